"""Gemini's generateContent, and the resources of cachedContents. camelCase and snake_case.

Order: instructions, tools, contents, as the strict dialect has it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from headstart.contracts.prompt import NO_WISHES, Kind, Wishes
from headstart.insight.asked.formats import media
from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.formats.values import fields, objects, text
from headstart.insight.asked.piece import Address, Piece, plain_json

ROLES: Mapping[str, Kind] = {"model": "assistant", "assistant": "assistant"}
"""All others are the user's."""


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable."""
    pieces = list(_instructions(body))
    pieces += _tools(body)
    contents = body.get("contents")
    if isinstance(contents, str):
        pieces.append(Piece("user", ("contents",), contents, 0, "user"))
    else:
        alone = isinstance(contents, dict)
        for address, content in objects([contents] if alone else contents, ("contents",)):
            place = ("contents",) if alone else address
            role = text(content.get("role")) or "user"
            index = address[-1]
            assert isinstance(index, int)
            pieces += _parts(content, place, ROLES.get(role, "user"), index, role)
    _, name = either(body, "cached_content")
    return Contents(pieces, wishes=Wishes(content=name) if isinstance(name, str) else NO_WISHES)


def either(value: Mapping[str, Any], name: str) -> tuple[str, Any]:
    """A field under either of its spellings, and which that is."""
    if name in value:
        return name, value[name]
    camel = _camel(name)
    return camel, value.get(camel)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _instructions(body: Mapping[str, Any]) -> Iterator[Piece]:
    name, said = either(body, "system_instruction")
    if isinstance(said, str):
        yield Piece("system", (name,), said, -1, "system")
    elif isinstance(said, dict):
        yield from _parts(said, (name,), "system", -1, "system")


def _tools(body: Mapping[str, Any]) -> Iterator[Piece]:
    """Every function that is declared, and every tool of Google's own."""
    for address, tool in objects(body.get("tools"), ("tools",)):
        name, _ = either(tool, "function_declarations")
        for place, declared in objects(tool.get(name), (*address, name)):
            said = plain_json({_camel(field): value for field, value in declared.items()})
            called = text(declared.get("name"))
            yield Piece("tool", place, said, name=called, json=True)
        for other, value in tool.items():
            if other != name and value is not None:
                said = plain_json({_camel(other): value})
                yield Piece("tool", (*address, other), said, name=other, json=True)


def _parts(
    content: Mapping[str, Any], address: Address, kind: Kind, message: int, role: str
) -> Iterator[Piece]:
    place = (*address, "parts")
    parts = content.get("parts")
    if isinstance(parts, dict):
        yield _part(parts, kind, place, message, role)
        return
    for at, part in objects(parts, place):
        yield _part(part, kind, at, message, role)


def _part(part: Mapping[str, Any], kind: Kind, address: Address, message: int, role: str) -> Piece:
    said = part.get("text")
    if isinstance(said, str):
        if part.get("thought") is True:
            return Piece("thinking", address, said, message, role, markable=False)
        return Piece(kind, address, said, message, role)
    _, call = either(part, "function_call")
    if isinstance(call, dict):
        arguments, called = plain_json(call.get("args") or {}), text(call.get("name"))
        return Piece("tool_use", address, arguments, message, role, called, json=True)
    _, result = either(part, "function_response")
    if isinstance(result, dict):
        answer, called = plain_json(result.get("response") or {}), text(result.get("name"))
        return Piece("tool_result", address, answer, message, role, called, json=True)
    for name in ("inline_data", "file_data"):
        _, held = either(part, name)
        if isinstance(held, dict):
            sort = media.kind_of(either(fields(held), "mime_type")[1])
            return Piece(kind, address, media.of_value(held), message, role, media=sort)
    return Piece(kind, address, plain_json(part), message, role, json=True)
