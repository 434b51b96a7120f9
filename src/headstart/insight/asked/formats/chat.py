"""OpenAI's chat completions, which DeepSeek, vLLM, SGLang, gateways and many others speak too.

Order: tools, then the messages as they come (rule O2).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headstart.contracts.prompt import Kind
from headstart.insight.asked.formats.contents import Contents
from headstart.insight.asked.formats.openai import (
    call_piece,
    part_piece,
    to_mark,
    to_settings,
    to_wishes,
    tool_piece,
)
from headstart.insight.asked.formats.values import an_object, objects, text, wrong
from headstart.insight.asked.piece import Address, Piece

ROLES: Mapping[str, Kind] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool_result",
    "function": "tool_result",
}


def read(body: Mapping[str, Any]) -> Contents:
    """Raises Unreadable."""
    pieces = [
        tool_piece(tool, address)
        for name in ("tools", "functions")
        for address, tool in objects(body.get(name), (name,))
    ]
    for address, message in objects(body.get("messages"), ("messages",)):
        pieces += _message(message, address)
    settings = to_settings(
        body,
        text_format=body.get("response_format"),
        effort=body.get("reasoning_effort"),
        verbosity=body.get("verbosity"),
    )
    return Contents(pieces, settings, to_wishes(body), text(body.get("prompt_cache_key")))


def _message(message: Mapping[str, Any], address: Address) -> list[Piece]:
    role = message.get("role")
    if not isinstance(role, str):
        raise wrong((*address, "role"), "a text", role)
    index = address[-1]
    assert isinstance(index, int)
    pieces = [*_thoughts(message, address, index, role), *_said(message, address, index, role)]
    for name in ("tool_calls", "function_call"):
        calls = message.get(name)
        place = (*address, name)
        if isinstance(calls, dict):
            pieces.append(call_piece(calls, place, index, role))
        else:
            for at, call in objects(calls, place):
                pieces.append(call_piece(an_object(call, at), at, index, role))
    mark = to_mark(message)
    if mark is not None and pieces:
        pieces[-1] = replace(pieces[-1], mark=mark)
    return pieces


def _thoughts(
    message: Mapping[str, Any], address: Address, index: int, role: str
) -> Iterator[Piece]:
    """What a reasoning model thought, where it is sent back (DeepSeek, vLLM, OpenRouter)."""
    for name in ("reasoning_content", "reasoning"):
        said = text(message.get(name))
        if said:
            yield Piece("thinking", (*address, name), said, index, role, markable=False)
            return


def _said(message: Mapping[str, Any], address: Address, index: int, role: str) -> Iterator[Piece]:
    kind = ROLES.get(role, "user")
    name, id = text(message.get("name")), text(message.get("tool_call_id"))
    place = (*address, "content")
    content = message.get("content")
    if content is None:
        return
    if not isinstance(content, list):
        yield part_piece(content, kind, place, index, role, name=name, id=id)
        return
    for number, part in enumerate(content):
        yield part_piece(part, kind, (*place, number), index, role, name=name, id=id)
