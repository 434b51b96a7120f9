"""From a draft to the body that a vendor takes, and where each of its pieces has gone."""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.insight.labelled.case import Body, Dialect
from tests.insight.labelled.draft import Call, Draft, Image, Mark, Result, Text, Thought, Tool, Turn

Spot = tuple[str, int] | tuple[str, int, int]
"""`("tool", 1)`, `("system", 0)`, `("turn", 2, 0)`: turn, then block."""


@dataclass(frozen=True, slots=True)
class Written:
    body: Body
    places: dict[Spot, str] = field(default_factory=dict)
    """JSON pointers."""


def write(draft: Draft) -> Written:
    """The body, with its keys in the usual order."""
    return WRITERS[draft.dialect](draft)


def body(draft: Draft) -> Body:
    """The body alone."""
    return write(draft).body


def _anthropic(draft: Draft) -> Written:
    out = Written({"model": draft.model, "max_tokens": 1024})
    if draft.tools:
        out.body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.schema}
            | _control(t.mark)
            for t in draft.tools
        ]
        out.places.update({("tool", i): f"/tools/{i}" for i in range(len(draft.tools))})
    if draft.system:
        out.body["system"] = _or_string(draft.system, draft.listed, _anthropic_block)
        _place(out, "system", draft.system, draft.listed, "/system")
    messages = []
    for index, turn in enumerate(draft.turns):
        at = f"/messages/{index}/content"
        content = _or_string(turn.blocks, turn.listed, _anthropic_block)
        messages.append({"role": turn.role, "content": content})
        _place_turn(out, index, turn, at)
    out.body["messages"] = messages
    out.body.update(draft.fields)
    return out


def _anthropic_block(block: Any) -> Body:
    match block:
        case Text(text, mark):
            return {"type": "text", "text": text} | _control(mark)
        case Image(png):
            data = base64.b64encode(png).decode()
            source = {"type": "base64", "media_type": "image/png", "data": data}
            return {"type": "image", "source": source}
        case Call(id, name, arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": dict(arguments)}
        case Result(call, text, mark):
            made = {"type": "tool_result", "tool_use_id": call.id, "content": text}
            return made | _control(mark)
        case Thought(text, signature, mark):
            made = {"type": "thinking", "thinking": text, "signature": signature}
            return made | _control(mark)
    raise TypeError(block)


def _control(mark: Mark) -> Body:
    if mark is None:
        return {}
    return {"cache_control": {"type": "ephemeral"} | ({"ttl": mark} if mark else {})}


def _chat(draft: Draft) -> Written:
    out = Written({"model": draft.model})
    messages: list[Body] = []
    if draft.system:
        at = "/messages/0/content"
        content = _or_string(draft.system, draft.listed, _chat_part)
        messages.append({"role": "system", "content": content})
        _place(out, "system", draft.system, draft.listed, at)
    for index, turn in enumerate(draft.turns):
        for message, first, size in _chat_messages(turn):
            at = f"/messages/{len(messages)}"
            messages.append(message)
            for offset in range(size):
                out.places["turn", index, first + offset] = _chat_place(message, at, offset)
    out.body["messages"] = messages
    if draft.tools:
        out.body["tools"] = [{"type": "function", "function": _function(t)} for t in draft.tools]
        out.places.update({("tool", i): f"/tools/{i}" for i in range(len(draft.tools))})
    out.body.update(draft.fields)
    return out


def _chat_messages(turn: Turn) -> Iterator[tuple[Body, int, int]]:
    """Messages, each with the first of its blocks and how many."""
    if turn.role == "assistant":
        calls = [block for block in turn.blocks if isinstance(block, Call)]
        texts = [block for block in turn.blocks if isinstance(block, Text)]
        message: Body = {"role": "assistant", "content": texts[0].text if texts else None}
        if calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": _called(c)} for c in calls
            ]
        yield message, 0, len(turn.blocks)
        return
    results = [block for block in turn.blocks if isinstance(block, Result)]
    for number, block in enumerate(results):
        content = _or_string((Text(block.text, block.mark),), False, _chat_part)
        yield {"role": "tool", "tool_call_id": block.call.id, "content": content}, number, 1
    rest = turn.blocks[len(results) :]
    if rest:
        content = _or_string(rest, turn.listed, _chat_part)
        yield {"role": "user", "content": content}, len(results), len(rest)


def _chat_place(message: Body, at: str, offset: int) -> str:
    if message["role"] == "assistant":
        texts = message["content"] is not None
        return f"{at}/content" if texts and not offset else f"{at}/tool_calls/{offset - texts}"
    return f"{at}/content" if isinstance(message["content"], str) else f"{at}/content/{offset}"


def _chat_part(block: Any) -> Body:
    match block:
        case Text(text, mark):
            return {"type": "text", "text": text} | _breakpoint(mark)
        case Image(png):
            return {"type": "image_url", "image_url": {"url": _data_url(png)}}
    raise TypeError(block)


def _function(tool: Tool) -> Body:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


def _called(call: Call) -> Body:
    return {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}


def _breakpoint(mark: Mark) -> Body:
    if mark is None:
        return {}
    return {"prompt_cache_breakpoint": {"mode": "explicit"} | ({"ttl": mark} if mark else {})}


def _data_url(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _responses(draft: Draft) -> Written:
    out = Written({"model": draft.model})
    items: list[Body] = []
    if draft.system and _single(draft.system, draft.listed):
        out.body["instructions"] = draft.system[0].text
        out.places["system", 0] = "/instructions"
    elif draft.system:
        content = [_input_part(block) for block in draft.system]
        items.append({"role": "developer", "content": content})
        _place(out, "system", draft.system, True, "/input/0/content")
    for index, turn in enumerate(draft.turns):
        for item, first, size in _items(turn):
            at = f"/input/{len(items)}"
            items.append(item)
            for offset in range(size):
                out.places["turn", index, first + offset] = _item_place(item, at, offset)
    out.body["input"] = items
    if draft.tools:
        out.body["tools"] = [{"type": "function"} | _function(tool) for tool in draft.tools]
        out.places.update({("tool", i): f"/tools/{i}" for i in range(len(draft.tools))})
    out.body.update(draft.fields)
    return out


def _items(turn: Turn) -> Iterator[tuple[Body, int, int]]:
    said = [block for block in turn.blocks if isinstance(block, Text | Image)]
    others = [block for block in turn.blocks if not isinstance(block, Text | Image)]
    if turn.role == "assistant" and said:
        content = [{"type": "output_text", "text": block.text} for block in said]
        yield {"type": "message", "role": "assistant", "content": content}, 0, len(said)
    for number, block in enumerate(others):
        first = number + (len(said) if turn.role == "assistant" else 0)
        if isinstance(block, Call):
            made = {"type": "function_call", "call_id": block.id} | _called(block)
        else:
            assert isinstance(block, Result)
            output: Any = block.text
            if block.mark is not None:
                output = [_input_part(Text(block.text, block.mark))]
            made = {"type": "function_call_output", "call_id": block.call.id, "output": output}
        yield made, first, 1
    if turn.role == "user" and said:
        content = _or_string(said, turn.listed, _input_part)
        yield {"role": "user", "content": content}, len(others), len(said)


def _item_place(item: Body, at: str, offset: int) -> str:
    for key in ("content", "output"):
        if key in item:
            return f"{at}/{key}" if isinstance(item[key], str) else f"{at}/{key}/{offset}"
    return at


def _input_part(block: Any) -> Body:
    match block:
        case Text(text, mark):
            return {"type": "input_text", "text": text} | _breakpoint(mark)
        case Image(png):
            return {"type": "input_image", "image_url": _data_url(png)}
    raise TypeError(block)


def _gemini(draft: Draft) -> Written:
    out = Written({"model": f"models/{draft.model}"})
    if draft.system:
        parts = [{"text": block.text} for block in draft.system]
        out.body["systemInstruction"] = {"parts": parts}
        for index in range(len(parts)):
            out.places["system", index] = f"/systemInstruction/parts/{index}"
    contents = []
    for index, turn in enumerate(draft.turns):
        role = "model" if turn.role == "assistant" else "user"
        contents.append({"role": role, "parts": [_gemini_part(block) for block in turn.blocks]})
        for number in range(len(turn.blocks)):
            out.places["turn", index, number] = f"/contents/{index}/parts/{number}"
    out.body["contents"] = contents
    if draft.tools:
        declared = [
            {"name": t.name, "description": t.description, "parametersJsonSchema": t.schema}
            for t in draft.tools
        ]
        out.body["tools"] = [{"functionDeclarations": declared}]
        for index in range(len(declared)):
            out.places["tool", index] = f"/tools/0/functionDeclarations/{index}"
    out.body.update(draft.fields)
    return out


def _gemini_part(block: Any) -> Body:
    match block:
        case Text(text):
            return {"text": text}
        case Image(png):
            data = base64.b64encode(png).decode()
            return {"inlineData": {"mimeType": "image/png", "data": data}}
        case Call(id, name, arguments):
            return {"functionCall": {"id": id, "name": name, "args": dict(arguments)}}
        case Result(call, text):
            response = {"result": text}
            return {"functionResponse": {"id": call.id, "name": call.name, "response": response}}
    raise TypeError(block)


def _single(blocks: Any, listed: bool) -> bool:
    return (
        len(blocks) == 1 and not listed and isinstance(blocks[0], Text) and blocks[0].mark is None
    )


def _or_string(blocks: Any, listed: bool, render: Callable[[Any], Body]) -> str | list[Body]:
    if _single(blocks, listed):
        return str(blocks[0].text)
    return [render(block) for block in blocks]


def _place(out: Written, name: str, blocks: Any, listed: bool, at: str) -> None:
    if _single(blocks, listed):
        out.places[name, 0] = at
    else:
        out.places.update({(name, i): f"{at}/{i}" for i in range(len(blocks))})


def _place_turn(out: Written, index: int, turn: Turn, at: str) -> None:
    if _single(turn.blocks, turn.listed):
        out.places["turn", index, 0] = at
    else:
        places = {("turn", index, i): f"{at}/{i}" for i in range(len(turn.blocks))}
        out.places.update(places)


WRITERS: dict[Dialect, Callable[[Draft], Written]] = {
    "anthropic": _anthropic,
    "chat": _chat,
    "responses": _responses,
    "gemini": _gemini,
    "deepseek": _chat,
}
