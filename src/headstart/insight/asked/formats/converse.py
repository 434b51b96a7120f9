"""Bedrock's Converse. A `cachePoint` is a block of its own: it marks the block before it.

Order as Anthropic's: tools, system, messages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headstart.contracts.prompt import Kind, Mark
from headstart.insight.asked.formats import media
from headstart.insight.asked.formats.contents import Contents, spelled
from headstart.insight.asked.formats.values import fields, objects, text, wrong
from headstart.insight.asked.piece import Address, Piece, plain_json

MEDIA = ("image", "document", "video", "audio")
POINT = "cachePoint"


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable."""
    config = fields(body.get("toolConfig"))
    pieces = _marked(_tools(config.get("tools")))
    pieces += _marked(_blocks(body.get("system"), ("system",), "system", -1, "system"))
    for address, message in objects(body.get("messages"), ("messages",)):
        role = message.get("role")
        if not isinstance(role, str):
            raise wrong((*address, "role"), "a text", role)
        index = address[-1]
        assert isinstance(index, int)
        kind: Kind = "assistant" if role == "assistant" else "user"
        pieces += _marked(_blocks(message.get("content"), (*address, "content"), kind, index, role))
    more = fields(body.get("additionalModelRequestFields"))
    settings = spelled({"tool_choice": config.get("toolChoice"), "thinking": more.get("thinking")})
    return Contents(pieces, settings)


def is_point(block: Mapping[str, Any]) -> bool:
    """Whether it only marks the block before it."""
    return isinstance(block.get(POINT), dict)


def _marked(found: Iterator[Piece | Mark]) -> list[Piece]:
    """Each mark on the piece before it. One with nothing before it marks nothing."""
    pieces: list[Piece] = []
    for each in found:
        if isinstance(each, Piece):
            pieces.append(each)
        elif pieces:
            pieces[-1] = replace(pieces[-1], mark=each)
    return pieces


def _mark(block: Mapping[str, Any]) -> Mark:
    return Mark(text(block[POINT].get("ttl")) or None)


def _tools(tools: Any) -> Iterator[Piece | Mark]:
    for address, tool in objects(tools, ("toolConfig", "tools")):
        if is_point(tool):
            yield _mark(tool)
            continue
        name = text(fields(tool.get("toolSpec")).get("name"))
        yield Piece("tool", address, plain_json(tool), name=name, json=True)


def _blocks(
    content: Any, address: Address, kind: Kind, message: int, role: str
) -> Iterator[Piece | Mark]:
    if isinstance(content, str):
        yield Piece(kind, address, content, message, role)
        return
    for at, block in objects(content, address):
        if is_point(block):
            yield _mark(block)
        else:
            yield from _block(block, at, kind, message, role)


def _block(
    block: Mapping[str, Any], address: Address, kind: Kind, message: int, role: str
) -> Iterator[Piece | Mark]:
    match block:
        case {"text": str(said)}:
            yield Piece(kind, address, said, message, role, markable=said != "")
        case {"reasoningContent": dict(thought)}:
            said = text(fields(thought.get("reasoningText")).get("text")) or plain_json(thought)
            yield Piece("thinking", address, said, message, role, markable=False)
        case {"toolUse": dict(call)}:
            said, name, id = (
                plain_json(call.get("input", {})),
                call.get("name"),
                call.get("toolUseId"),
            )
            yield Piece("tool_use", address, said, message, role, text(name), text(id), json=True)
        case {"toolResult": dict(result)}:
            inner = (*address, "toolResult", "content")
            yield from _blocks(result.get("content"), inner, "tool_result", message, role)
            failed = result.get("status") == "error"
            said = '{"status": "error"}' if failed else ""
            id = text(result.get("toolUseId"))
            yield Piece("tool_result", address, said, message, role, id=id, json=failed)
        case _:
            yield _other(block, Piece(kind, address, "", message, role))


def _other(block: Mapping[str, Any], piece: Piece) -> Piece:
    for name in MEDIA:
        held = block.get(name)
        if isinstance(held, dict):
            sort = "file" if name == "document" else name
            return replace(piece, text=media.of_value(held.get("source", held)), media=sort)
    return replace(piece, text=plain_json(block), json=True)
