"""The blocks that messages and the system prompt are made of, as they come over the wire.

Blocks of Anthropic's own tools (`server_tool_use`, `web_search_tool_result`, ...) are unknown here:
this server runs no tools.
"""

from typing import Any

from msgspec import Struct

from headstart.contracts.prompt import Mark
from headstart.dialects.anthropic.check import Strict, one_of

LIFETIMES = ("5m", "1h")


class CacheControl(Strict, tag_field="type", tag="ephemeral"):
    """`cache_control`: the prefix through here shall be cached."""

    ttl: str | None = None


class Citations(Strict):
    """`citations`: whether the answer shall quote."""

    enabled: bool = False


class TextBlock(Strict, tag_field="type", tag="text"):
    """Text; `citations` is what an answer carries."""

    text: str
    cache_control: CacheControl | None = None
    citations: list[dict[str, Any]] | None = None


class ImageBlock(Struct, tag_field="type", tag="image"):
    """An image: known, so that it can be refused by name."""


class PlainText(Strict, tag_field="type", tag="text"):
    """A document that is text."""

    data: str
    media_type: str = "text/plain"


class BlockSource(Strict, tag_field="type", tag="content"):
    """A document made of blocks."""

    content: str | list[TextBlock | ImageBlock]


class Base64Source(Struct, tag_field="type", tag="base64"):
    """A PDF: known, so that it can be refused by name."""


class UrlSource(Struct, tag_field="type", tag="url"):
    """A PDF elsewhere: known, so that it can be refused by name."""


class FileSource(Struct, tag_field="type", tag="file"):
    """An uploaded file: known, so that it can be refused by name."""


class DocumentBlock(Strict, tag_field="type", tag="document"):
    """A document to talk about."""

    source: PlainText | BlockSource | Base64Source | UrlSource | FileSource
    title: str | None = None
    context: str | None = None
    citations: Citations | None = None
    cache_control: CacheControl | None = None


class SearchResultBlock(Strict, tag_field="type", tag="search_result"):
    """Something that was found, and where."""

    content: list[TextBlock]
    source: str
    title: str
    citations: Citations | None = None
    cache_control: CacheControl | None = None


class ThinkingBlock(Strict, tag_field="type", tag="thinking"):
    """Thoughts of an earlier answer. It has no `cache_control` (rule A14)."""

    thinking: str
    signature: str


class RedactedThinkingBlock(Strict, tag_field="type", tag="redacted_thinking"):
    """The same, unreadable."""

    data: str


class ToolUseBlock(Strict, tag_field="type", tag="tool_use"):
    """A call that the client hands back."""

    id: str
    name: str
    input: dict[str, Any]
    cache_control: CacheControl | None = None
    caller: dict[str, Any] | None = None
    toolset_name: str | None = None


ResultContent = TextBlock | ImageBlock | DocumentBlock | SearchResultBlock


class ToolResultBlock(Strict, tag_field="type", tag="tool_result"):
    """What a call came to."""

    tool_use_id: str
    content: str | list[ResultContent] | None = None
    is_error: bool | None = None
    cache_control: CacheControl | None = None
    toolset_name: str | None = None


Block = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
)


class Message(Strict):
    """One message. `content` as a string is short for one block of text."""

    role: str
    content: str | list[Block]


def to_mark(control: CacheControl | None, path: str) -> Mark | None:
    """The wish for a breakpoint at `path`. Raises ApiError 400 for an unknown lifetime."""
    if control is None:
        return None
    at = f"{path}.cache_control" if path else "cache_control"
    one_of(control.ttl, LIFETIMES, f"{at}.ephemeral.ttl")
    return Mark(control.ttl)
