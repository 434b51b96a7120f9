"""Durations and moments as proto-JSON spells them: `300s`, `2026-11-30T12:00:00Z`."""

import re
from datetime import UTC, datetime

from headstart.dialects.gemini.errors import BadRequest, Violation

_DURATION = re.compile(r"-?\d{1,12}(\.\d{1,9})?s")
_FRACTION = re.compile(r"(\.\d{6})\d+")


def read_duration(text: str, path: str) -> float:
    """Seconds. Raises ApiError 400."""
    if not _DURATION.fullmatch(text):
        raise _bad(text, path, "Duration")
    return float(text[:-1])


def read_moment(text: str, path: str) -> float:
    """Seconds since the epoch; without an offset it would be anybody's. Raises ApiError 400."""
    try:
        moment = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    except ValueError:
        raise _bad(text, path, "Timestamp") from None
    if moment.tzinfo is None:
        raise _bad(text, path, "Timestamp")
    return moment.timestamp()


def moment(seconds: float) -> str:
    """RFC 3339 in UTC, to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _bad(text: str, path: str, kind: str) -> BadRequest:
    shown = f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.{kind}), \"{text}\""
    return BadRequest.of([Violation(shown, path)])
