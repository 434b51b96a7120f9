"""Whatever a body holds, it is read or refused."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.openai.responses.past import KnownPast
from tests.search import examples

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.responses.request import CREATE, PROMPT, parse_count, parse_create

MARKED = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
BODY: dict[str, Any] = {
    "model": "m",
    "input": [
        {"role": "user", "content": [MARKED]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "b", "logprobs": []}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [MARKED]},
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "s"}],
            "content": [{"type": "reasoning_text", "text": "t"}],
            "encrypted_content": "e",
        },
        {"type": "item_reference", "id": "i"},
    ],
    "tools": [{"type": "function", "name": "f", "parameters": {}}],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function"}]},
    "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}},
    "reasoning": {"effort": "low"},
    "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
    "metadata": {"a": "b"},
    "include": ["message.output_text.logprobs"],
}
words = st.sampled_from(["", "a", "function", "message", "web_search", "input_image", "explicit"])
leaves = st.none() | st.booleans() | st.integers(-1, 20) | st.floats(0, 3) | words
anything = st.recursive(leaves, lambda inner: st.lists(inner, max_size=2), max_leaves=3) | st.just(
    {"type": {"a": []}}
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps: list[Any] = []
    if isinstance(value, dict):
        steps = list(value)
    elif isinstance(value, list):
        steps = list(range(len(value)))
    inner = (place for step in steps for place in places(value[step], (*at, step)))
    return [*([at] if at else []), *inner]


def put(body: Any, place: tuple[Any, ...], value: Any) -> None:
    for step in place[:-1]:
        body = body[step]
    body[place[-1]] = value


@settings(max_examples=examples(300))
@given(st.data())
def test_a_body_with_anything_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    body = json.loads(json.dumps(BODY))
    place = data.draw(st.sampled_from(places(BODY)))
    put(body, place, data.draw(anything))
    name = data.draw(st.sampled_from(sorted(PROMPT | CREATE)))
    if data.draw(st.booleans()):
        body[name] = data.draw(anything)
    for parse in (
        lambda text: parse_create(text, KnownPast(), "r"),
        lambda text: parse_count(text, KnownPast(), "m"),
    ):
        with suppress(ApiError):
            parse(json.dumps(body).encode())
