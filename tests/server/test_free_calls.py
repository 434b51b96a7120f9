"""Calls that a model may make or leave, held to what was asked for: strict tools, allowed ones."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer
from tests.server.test_failures import ScriptedEngine, ScriptedGeneration

from headstart.engine.api import Chunk, GenerateRequest

SIZES: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"enum": ["small", "large"]}},
    "required": ["size"],
    "additionalProperties": False,
}
CHOSEN: dict[str, Any] = {
    "type": "object",
    "properties": {"even": {"type": "boolean"}},
    "required": ["even"],
    "additionalProperties": False,
}
HELLO: Any = [{"role": "user", "content": "Hello"}]
GREEDY = {"temperature": 0, "seed": 1}


@dataclass
class Listening(ScriptedEngine):
    """Hears what is asked of the engine."""

    requests: list[GenerateRequest] = field(default_factory=list)

    def submit(self, request: GenerateRequest) -> ScriptedGeneration:
        self.requests.append(request)
        return super().submit(request)


def in_chat(live: Any, *, strict: bool, only: str | None) -> None:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": SIZES, "strict": strict}}
        for name in ("order", "cancel")
    ]
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": only}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed} if only else "auto"
    live.client().chat.completions.create(
        model="tiny", messages=HELLO, tools=tools, tool_choice=choice
    )


def in_responses(live: Any, *, strict: bool, only: str | None) -> None:
    tools = [
        {"type": "function", "name": name, "parameters": SIZES, "strict": strict}
        for name in ("order", "cancel")
    ]
    allowed = [{"type": "function", "name": only}]
    choice: Any = {"type": "allowed_tools", "mode": "auto", "tools": allowed} if only else "auto"
    live.client().responses.create(model="tiny", input="Hello", tools=tools, tool_choice=choice)


def in_messages(live: Any, *, strict: bool, only: str | None) -> None:
    assert only is None
    tools = [{"name": n, "input_schema": SIZES, "strict": strict} for n in ("order", "cancel")]
    live.anthropic().messages.create(model="tiny", messages=HELLO, max_tokens=9, tools=tools)


def in_contents(live: Any, *, strict: bool, only: str | None) -> None:
    declared = [{"name": n, "parameters_json_schema": SIZES} for n in ("order", "cancel")]
    calling: Any = {"mode": "VALIDATED" if strict or only else "AUTO"}
    if only:
        calling["allowed_function_names"] = [only]
    client = live.gemini()
    client.models.generate_content(
        model="tiny",
        contents="Hello",
        config={
            "tools": [{"function_declarations": declared}],
            "tool_config": {"function_calling_config": calling},
        },
    )


Ask = Callable[..., None]
ALL = [in_chat, in_responses, in_messages, in_contents]


@pytest.fixture
def listening(start_scripted: Any) -> Any:
    return start_scripted(Listening([Chunk(0, "Hi", tokens=1, finish_reason="stop")]))


@pytest.fixture
def takes(listening: Any) -> Callable[[str], bool]:
    """Whether the grammar of the last request takes a whole answer."""
    codec = listening.codec
    guide = LLTokenizer(codec.tokenizer_json, eos_token=list(codec.eos_ids))

    def taken(answer: str) -> bool:
        grammar = listening.engine.requests[-1].params.grammar
        assert grammar.kind == "lark"
        matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar.source))
        ids = guide.tokenize_str(answer)
        return matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting()

    return taken


def call(name: str, size: str) -> str:
    arguments = json.dumps({"size": size})
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize("ask", ALL)
def test_a_strict_tool_is_obeyed_where_calls_are_free(
    listening: Any, takes: Callable[[str], bool], ask: Ask
) -> None:
    ask(listening, strict=True, only=None)
    for said in ("Hi there.", call("order", "small"), f"Of course. {call('cancel', 'large')}"):
        assert takes(said)
    for said in (call("order", "huge"), call("other", "small")):
        assert not takes(said)


@pytest.mark.parametrize("ask", ALL)
def test_without_a_strict_tool_the_model_writes_what_it_likes(listening: Any, ask: Ask) -> None:
    ask(listening, strict=False, only=None)
    assert listening.engine.requests[-1].params.grammar is None


@pytest.mark.parametrize("ask", [in_chat, in_responses, in_contents])
def test_of_tools_that_are_not_allowed_none_is_called(
    listening: Any, takes: Callable[[str], bool], ask: Ask
) -> None:
    """The prompt shows them all, so the cache is read as before."""
    ask(listening, strict=False, only="cancel")
    assert takes("Hi there.")
    assert takes(call("cancel", "small"))
    assert not takes(call("order", "small"))
    ask(listening, strict=False, only=None)
    shown = [request.prompt for request in listening.engine.requests]
    assert shown[0] == shown[1]


def bias(live: Any, first: str) -> dict[str, int]:
    """For the token that an answer beginning so begins with."""
    return {str(live.codec.encode(first)[0]): 100}


def test_an_answer_that_has_to_be_json_may_still_be_a_call(live: Any) -> None:
    tool = {"type": "function", "function": {"name": "order", "parameters": SIZES, "strict": True}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": CHOSEN}}
    for first in ("<tool", "{"):
        choice = (
            live.client()
            .chat.completions.create(
                model="tiny",
                messages=HELLO,
                tools=[tool],
                parallel_tool_calls=False,
                response_format=form,
                logit_bias=bias(live, first),
                max_tokens=200,
                **GREEDY,
            )
            .choices[0]
        )
        if first == "{":
            assert set(json.loads(choice.message.content)) == {"even"}
            assert choice.finish_reason == "stop"
        else:
            (made,) = choice.message.tool_calls
            assert json.loads(made.function.arguments)["size"] in ("small", "large")
            assert choice.finish_reason == "tool_calls"
