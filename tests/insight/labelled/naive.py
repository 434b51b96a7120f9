"""What a model reads of a body, told the plain way: the oracle that the set is checked against.

It knows nothing of drafts, and nothing of the reader in `headstart.insight`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.insight.labelled.case import Body, Dialect

from headstart.contracts.prompt import Kind


@dataclass(frozen=True, slots=True)
class Seen:
    """A piece of the prompt."""

    kind: Kind
    pointer: str
    text: str
    message: int = -1
    mark: str | None = None
    markable: bool = True


def pieces(body: Body, dialect: Dialect) -> list[Seen]:
    """In the vendor's order."""
    return list(READERS.get(dialect, _chat)(body))


def first_difference(one: list[Seen], two: list[Seen]) -> int | None:
    """The first piece of `two` that isn't the same in `one`; None where one goes on the other."""
    for index, (before, after) in enumerate(zip(one, two, strict=False)):
        if (before.kind, before.text) != (after.kind, after.text):
            return index
    return None


def _anthropic(body: Body) -> Iterator[Seen]:
    for index, tool in enumerate(body.get("tools", ())):
        said = {name: value for name, value in tool.items() if name != "cache_control"}
        yield Seen("tool", f"/tools/{index}", _json(said), mark=_mark(tool))
    yield from _blocks(body.get("system", []), "system", "/system", -1)
    for index, message in enumerate(body["messages"]):
        at = f"/messages/{index}/content"
        yield from _blocks(message["content"], message["role"], at, index)


def _blocks(content: Any, kind: Kind, at: str, message: int) -> Iterator[Seen]:
    if isinstance(content, str):
        yield Seen(kind, at, content, message)
        return
    kinds: dict[str, Kind] = {
        "tool_use": "tool_use",
        "tool_result": "tool_result",
        "thinking": "thinking",
    }
    for number, block in enumerate(content):
        said = {name: value for name, value in block.items() if name != "cache_control"}
        text = said["text"] if said["type"] == "text" else _json(said)
        markable = bool(text) and said["type"] != "thinking"
        own = kinds.get(said["type"], kind)
        yield Seen(own, f"{at}/{number}", text, message, _mark(block), markable)


def _chat(body: Body) -> Iterator[Seen]:
    for index, tool in enumerate(body.get("tools", ())):
        yield Seen("tool", f"/tools/{index}", _json(tool))
    kinds: dict[str, Kind] = {"tool": "tool_result"}
    for index, message in enumerate(body["messages"]):
        kind = kinds.get(message["role"], message["role"])
        at = f"/messages/{index}"
        if message.get("content") is not None:
            yield from _parts(message["content"], kind, f"{at}/content", index)
        for number, call in enumerate(message.get("tool_calls", ())):
            yield Seen("tool_use", f"{at}/tool_calls/{number}", _json(call), index)


def _parts(content: Any, kind: Kind, at: str, message: int) -> Iterator[Seen]:
    if isinstance(content, str):
        yield Seen(kind, at, content, message)
        return
    for number, part in enumerate(content):
        said = {name: value for name, value in part.items() if name != "prompt_cache_breakpoint"}
        text = said["text"] if "text" in said else _json(said)
        yield Seen(kind, f"{at}/{number}", text, message, _mark(part))


def _responses(body: Body) -> Iterator[Seen]:
    for index, tool in enumerate(body.get("tools", ())):
        yield Seen("tool", f"/tools/{index}", _json(tool))
    if "instructions" in body:
        yield Seen("system", "/instructions", body["instructions"])
    for index, item in enumerate(body["input"]):
        at = f"/input/{index}"
        match item.get("type", "message"):
            case "function_call":
                yield Seen("tool_use", at, _json(item), index)
            case "function_call_output":
                yield from _parts(item["output"], "tool_result", f"{at}/output", index)
            case _:
                yield from _parts(item["content"], item["role"], f"{at}/content", index)


def _gemini(body: Body) -> Iterator[Seen]:
    system = body.get("systemInstruction", body.get("system_instruction", {"parts": []}))
    name = "systemInstruction" if "systemInstruction" in body else "system_instruction"
    for number, part in enumerate(system["parts"]):
        yield Seen("system", f"/{name}/parts/{number}", part["text"])
    for index, tool in enumerate(body.get("tools", ())):
        key = "functionDeclarations" if "functionDeclarations" in tool else "function_declarations"
        for number, declared in enumerate(tool[key]):
            yield Seen("tool", f"/tools/{index}/{key}/{number}", _json(declared))
    for index, content in enumerate(body["contents"]):
        kind: Kind = "assistant" if content["role"] == "model" else "user"
        for number, part in enumerate(content["parts"]):
            at = f"/contents/{index}/parts/{number}"
            own: Kind = kind
            if "functionCall" in part:
                own = "tool_use"
            elif "functionResponse" in part:
                own = "tool_result"
            yield Seen(own, at, part["text"] if "text" in part else _json(part), index)


def _mark(holder: Body) -> str | None:
    control = holder.get("cache_control", holder.get("prompt_cache_breakpoint"))
    return None if control is None else str(control.get("ttl", ""))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


READERS = {"anthropic": _anthropic, "responses": _responses, "gemini": _gemini}
