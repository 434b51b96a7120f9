"""Times as people write them: a moment, or so long ago."""

import re
from datetime import UTC, datetime

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def since(text: str, now: float) -> float:
    """Unix seconds of `24h`, `7d` or an ISO time, in UTC if it names no zone. Raises ValueError."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return now - float(ago[1]) * _SECONDS[ago[2]]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"'{text}' is no time: write 24h, 7d or 2026-11-30T09:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
