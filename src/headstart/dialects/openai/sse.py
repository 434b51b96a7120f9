"""Server-sent events as OpenAI's clients read them."""

from collections.abc import Mapping
from typing import Any

import msgspec

DONE = b"data: [DONE]\n\n"
"""The last frame of a stream that went well."""


def frame(value: Mapping[str, Any]) -> bytes:
    """One event."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    """One event with a name: its type."""
    return f"event: {value['type']}\n".encode() + frame(value)
