"""A request of any dialect inside another one: what was, or would be, sent to a path."""

from typing import Any

import msgspec

from headstart.dialects.body import convert, decode_object
from headstart.dialects.errors import ApiError, invalid


class WholeRequest(msgspec.Struct, kw_only=True):
    """A body, and where it goes."""

    path: str
    """`/v1/messages`, `/v1beta/models/NAME:generateContent`, …; a query is ignored."""
    body: dict[str, Any]
    """Its keys in the order in which they came."""
    headers: dict[str, str] = {}
    """By their names in lower case."""

    @property
    def content(self) -> bytes:
        """The body again as it is sent."""
        return msgspec.json.encode(self.body)


def parse_whole(body: bytes) -> WholeRequest | None:
    """None for a body that is none of these: it names no path. Raises ApiError 400."""
    raw = decode_object(body)
    return convert(raw, WholeRequest) if "path" in raw else None


def not_chat(path: str) -> ApiError:
    """The path leads to no endpoint that takes a conversation."""
    return invalid(f"'path': {path} takes no chat request.", "path", "invalid_value")
