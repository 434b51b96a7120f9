"""Anthropic's Messages, also as Bedrock's InvokeModel and Vertex's rawPredict carry them.

Order: tools, system, messages (rule A1). What a result is made of comes before the result, as the
contract counts positions. Web search counts to the system prompt: switching it leaves tools cached.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headstart.contracts.client_line import without_client_line
from headstart.contracts.prompt import Kind, Mark, Wishes
from headstart.insight.asked.formats import media
from headstart.insight.asked.formats.contents import Contents, spelled
from headstart.insight.asked.formats.values import fields, objects, text, without, wrong
from headstart.insight.asked.piece import Address, Piece, plain_json

ROLES: Mapping[str, Kind] = {"user": "user", "assistant": "assistant", "system": "system"}
MARK = ("cache_control",)
ORDER = ("type", "name", "budget_tokens", "display", "disable_parallel_tool_use")
"""Of a setting's fields; the others follow as they came."""


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable."""
    tools = list(_tools(body.get("tools")))
    pieces = [
        *(tool for tool in tools if tool.kind == "tool"),
        *(tool for tool in tools if tool.kind != "tool"),
        *_blocks(body.get("system"), ("system",), "system", -1, "system"),
    ]
    for address, message in objects(body.get("messages"), ("messages",)):
        pieces += _message(message, address)
    return Contents(
        pieces,
        to_settings(body, pieces),
        Wishes(automatic=to_mark(body)),
    )


def as_shown(pieces: Sequence[Piece]) -> list[Piece]:
    """Those of a request as the servers show it that take the client's own line out."""
    shown = list(pieces)
    system = (at for at, piece in enumerate(shown) if piece.address[0] == "system")
    for first in [*system][:1]:
        left = without_client_line(shown[first].text)
        shown[first : first + 1] = [replace(shown[first], text=left)] if left else []
    return shown


def to_mark(block: Mapping[str, Any]) -> Mark | None:
    """The block's `cache_control`."""
    control = block.get("cache_control")
    if not isinstance(control, dict):
        return None
    ttl = control.get("ttl")
    return Mark(ttl if isinstance(ttl, str) else None)


def _tools(tools: Any) -> Iterator[Piece]:
    for address, tool in objects(tools, ("tools",)):
        yield Piece(
            "system" if _searches(tool) else "tool",
            address,
            plain_json(without(tool, MARK)),
            name=text(tool.get("name")),
            mark=to_mark(tool),
            json=True,
        )


def _message(message: Mapping[str, Any], address: Address) -> Iterator[Piece]:
    role = message.get("role")
    if not isinstance(role, str):
        raise wrong((*address, "role"), "a text", role)
    (*_, index) = address
    kind = ROLES.get(role, "user")
    assert isinstance(index, int)
    return _blocks(message.get("content"), (*address, "content"), kind, index, role)


def _blocks(content: Any, address: Address, kind: Kind, index: int, role: str) -> Iterator[Piece]:
    """The blocks of a content; a string is one, an empty one none."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield Piece(kind, address, content, index, role)
        return
    if not isinstance(content, list):
        raise wrong(address, "a text or a list", content)
    for number, block in enumerate(content):
        yield from _block(block, (*address, number), kind, index, role)


def _block(block: Any, address: Address, kind: Kind, index: int, role: str) -> Iterator[Piece]:
    if isinstance(block, str):
        yield Piece(kind, address, block, index, role)
        return
    if not isinstance(block, dict):
        yield Piece(kind, address, plain_json(block), index, role, json=True)
        return
    mark = to_mark(block)
    match block:
        case {"type": "text", "text": str(said)}:
            yield Piece(kind, address, said, index, role, mark=mark, markable=said != "")
        case {"type": "thinking" | "redacted_thinking"}:
            said = text(block.get("thinking")) or text(block.get("data"))
            yield Piece("thinking", address, said, index, role, mark=mark, markable=False)
        case {"type": "tool_use", "name": str(name)}:
            arguments = plain_json(block.get("input", {}))
            yield Piece(
                "tool_use",
                address,
                arguments,
                index,
                role,
                name,
                text(block.get("id")),
                mark,
                json=True,
            )
        case {"type": "tool_result"}:
            inner = (*address, "content")
            yield from _blocks(block.get("content"), inner, "tool_result", index, role)
            failed = block.get("is_error") is True
            yield Piece(
                "tool_result",
                address,
                '{"is_error": true}' if failed else "",
                index,
                role,
                id=text(block.get("tool_use_id")),
                mark=mark,
                json=failed,
            )
        case {"type": "image" | "document" | "audio" | "video", "source": dict(source)}:
            yield _sourced(block, source, Piece(kind, address, "", index, role, mark=mark))
        case {"type": "search_result"}:
            found = [each.text for each in _blocks(block.get("content"), address, kind, -1, "")]
            said = "\n".join([text(block.get("title")), text(block.get("source")), *found])
            yield Piece(kind, address, said, index, role, mark=mark)
        case _:
            yield Piece(
                _kind(text(block.get("type")), kind),
                address,
                plain_json(without(block, MARK)),
                index,
                role,
                text(block.get("name")),
                mark=mark,
                json=True,
            )


def _kind(named: str, kind: Kind) -> Kind:
    """Of a block of Anthropic's own tools (`server_tool_use`, `web_search_tool_result`, …)."""
    if named.endswith("tool_use"):
        return "tool_use"
    return "tool_result" if named.endswith("tool_result") else kind


def _sourced(block: Mapping[str, Any], source: Mapping[str, Any], piece: Piece) -> Piece:
    """A picture or a document: text where it holds text, else media."""
    about = [said for name in ("title", "context") if (said := text(block.get(name)))]
    match source:
        case {"type": "text", "data": str(data)}:
            return _saying(piece, "\n".join([*about, data]))
        case {"type": "content", "content": content}:
            held = [each.text for each in _blocks(content, piece.address, "user", -1, "")]
            return _saying(piece, "\n".join([*about, *held]))
    return _saying(piece, media.of_value(source), media.source_kind(block))


def _saying(piece: Piece, said: str, kind: str = "") -> Piece:
    return Piece(
        piece.kind,
        piece.address,
        said,
        piece.message,
        piece.role,
        mark=piece.mark,
        media=kind,
    )


def to_settings(body: Mapping[str, Any], pieces: Sequence[Piece]) -> dict[str, str]:
    """By the names of the contract's invalidation table, spelled as the strict dialect does."""
    config = fields(body.get("output_config"))
    return spelled(
        {
            "speed": body.get("speed"),
            "web_search": any(map(_searches, body.get("tools") or ())) or None,
            "citations": any(map(_cites, body.get("messages") or ())) or None,
            "format": _plain(config.get("format") or body.get("output_format")),
            "tool_choice": _plain(body.get("tool_choice")),
            "images": any(piece.media == "image" for piece in pieces) or None,
            "thinking": _plain(body.get("thinking")),
            "effort": config.get("effort") or body.get("reasoning_effort"),
        }
    )


def _plain(value: Any) -> Any:
    """A setting without what says nothing, its fields in one order."""
    if not isinstance(value, dict):
        return value
    told = {
        name: each
        for name, each in value.items()
        if each is not None and (name, each) != ("disable_parallel_tool_use", False)
    }
    return {name: told[name] for name in (*ORDER, *told) if name in told}


def _searches(tool: Mapping[str, Any]) -> bool:
    return text(tool.get("type")).startswith("web_search")


def _cites(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    wanted = (fields(fields(block).get("citations")) for block in blocks)
    return any(each.get("enabled") is True for each in wanted)
