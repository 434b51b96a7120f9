"""Moments as recordings write them."""

from datetime import UTC, datetime
from typing import Any

from headstart.insight.asked.formats.values import number


def moment(value: Any) -> float | None:
    """Unix seconds of a number of seconds, or of an ISO 8601 text (without a zone: UTC)."""
    if not isinstance(value, str):
        return number(value)
    try:
        told = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
