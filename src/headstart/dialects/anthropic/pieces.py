"""What the model is shown of each block; what it can't read is refused."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, structs

from headstart.contracts.client_line import without_client_line
from headstart.contracts.prompt import Kind, Mark
from headstart.dialects.anthropic.blocks import (
    Base64Source,
    Block,
    BlockSource,
    Citations,
    DocumentBlock,
    FileSource,
    ImageBlock,
    Message,
    PlainText,
    RedactedThinkingBlock,
    SearchResultBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
    to_mark,
)
from headstart.dialects.anthropic.check import wrong
from headstart.dialects.errors import invalid
from headstart.text.chat import ToolCall

KINDS: Mapping[str, Kind] = MappingProxyType(
    {"user": "user", "assistant": "assistant", "system": "system"}
)
"""Of a message's text, by its role."""
NO_IMAGES = "This model does not support image input"


class Piece(Struct, frozen=True, gc=False):
    """A block, checked."""

    kind: Kind
    path: str
    message: int
    """The index of its message; -1 in the system prompt."""
    text: str = ""
    """What is shown of it; of a call its arguments, as JSON."""
    mark: Mark | None = None
    call: ToolCall | None = None
    result_of: str | None = None
    """The id of the call whose result it is."""
    failed: bool = False
    inner: tuple["Piece", ...] = ()
    """What a result is made of."""


def system_pieces(system: str | Sequence[TextBlock] | None) -> list[Piece]:
    """The system prompt without the client's own line. Raises ApiError 400."""
    pieces = _pieces(system, "system", "system", -1)
    for first in pieces[:1]:
        left = without_client_line(first.text)
        pieces[:1] = [structs.replace(first, text=left)] if left else []
    return pieces


def message_pieces(message: Message, index: int) -> list[Piece]:
    """One message; its role is known to be one. Raises ApiError 400."""
    path = f"messages.{index}.content"
    return _pieces(message.content, KINDS[message.role], path, index)


def _pieces(
    content: str | Sequence[Block] | None, kind: Kind, path: str, message: int
) -> list[Piece]:
    """A string is short for one block of text; the empty one is none."""
    if isinstance(content, str):
        return [Piece(kind, f"{path}.0", message, content)] if content else []
    return [
        _piece(block, kind, f"{path}.{number}", message)
        for number, block in enumerate(content or ())
    ]


def _piece(block: Block, kind: Kind, path: str, message: int) -> Piece:
    match block:
        case TextBlock(_, None):
            return Piece(kind, path, message, _text(block, path))
        case ToolUseBlock():
            return _call(block, path, message)
        case ToolResultBlock():
            return _result(block, path, message)
        case ThinkingBlock(thinking):
            return Piece("thinking", path, message, thinking)
        case RedactedThinkingBlock(data):
            return Piece("thinking", path, message, data)
        case _:
            text = _text(block, path)
            mark = None if isinstance(block, ImageBlock) else to_mark(block.cache_control, path)
            return Piece(kind, path, message, text, mark)


def _call(block: ToolUseBlock, path: str, message: int) -> Piece:
    # Spaced like the JSON in models' templates, so that the text is likely the generated one.
    arguments = json.dumps(block.input, ensure_ascii=False)
    call = ToolCall(block.id, block.name, arguments)
    mark = to_mark(block.cache_control, path)
    return Piece("tool_use", path, message, arguments, mark, call)


def _result(block: ToolResultBlock, path: str, message: int) -> Piece:
    inner = tuple(_pieces(block.content, "tool_result", f"{path}.content", message))
    return Piece(
        "tool_result",
        path,
        message,
        "\n".join(piece.text for piece in inner),
        to_mark(block.cache_control, path),
        result_of=block.tool_use_id,
        failed=bool(block.is_error),
        inner=inner,
    )


def _text(block: TextBlock | ImageBlock | DocumentBlock | SearchResultBlock, path: str) -> str:
    match block:
        case TextBlock(text, control):
            if not text and control is not None:
                at = f"{path}.text"
                raise wrong(at, "cache_control cannot be set for empty text blocks")
            if not text:
                raise invalid(f"{path.split('.')[0]}: text content blocks must be non-empty", path)
            return text
        case DocumentBlock():
            _no_citations(block.citations, f"{path}.document")
            about = [line for line in (block.title, block.context) if line]
            return "\n".join([*about, _source(block, f"{path}.document.source")])
        case SearchResultBlock():
            at = f"{path}.search_result"
            _no_citations(block.citations, at)
            found = [_text(each, f"{at}.content.{i}") for i, each in enumerate(block.content)]
            return "\n".join([block.title, block.source, *found])
        case ImageBlock():
            raise wrong(path, NO_IMAGES)


def _source(block: DocumentBlock, path: str) -> str:
    match block.source:
        case PlainText(data):
            return data
        case BlockSource(content):
            return "\n".join(piece.text for piece in _pieces(content, "user", path, -1))
        case Base64Source() | UrlSource() | FileSource():
            raise wrong(path, "This model reads documents of type 'text' and 'content' only")


def _no_citations(citations: Citations | None, path: str) -> None:
    if citations is not None and citations.enabled:
        raise wrong(f"{path}.citations", "This model does not support citations")
