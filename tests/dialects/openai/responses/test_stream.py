"""A response's events, read back with the SDK's own types and its own stream helper."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from tests.search import examples

from headstart.dialects.chat import ChatRequest, ToolChoice
from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import server_error
from headstart.dialects.gathered import Gathered
from headstart.dialects.openai.responses.echo import echo
from headstart.dialects.openai.responses.fields import CreateFields, PromptFields
from headstart.dialects.openai.responses.response import Story
from headstart.dialects.openai.responses.stream import ResponseStream
from headstart.dialects.openai.responses.voice import ResponseRenderer
from headstart.dialects.sampling import Sampling
from headstart.ledger.account import Account
from headstart.text.chat import Conversation, Message

ACCOUNT = Account(prompt=40, read=32, output=3, written={"30m": 5, "12h": 1})
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
CALL: list[Delta] = [CallStart(0, "c1", "f"), CallArguments(0, '{"a"'), CallArguments(0, ": 1}")]


@dataclass
class Token:
    data: bytes
    logprob: float
    top: tuple["Token", ...] = ()


@dataclass
class Scene:
    """A renderer and what it kept."""

    max_tokens: int | None = None
    diagnosis: dict[str, Any] | None = None
    kept: list[Any] = field(default_factory=list)

    def renderer(self) -> ResponseRenderer:
        return ResponseRenderer(
            Story(
                self.head(),
                echo(PromptFields(model="m"), CreateFields(), ()),
                lambda _: self.diagnosis,
                self.kept.append,
                lambda: 9.5,
            )
        )

    def head(self) -> Head:
        asked = ChatRequest(
            model="m",
            conversation=Conversation((Message("user", "Hi"),)),
            tool_choice=ToolChoice("none"),
            sampling=Sampling(max_tokens=self.max_tokens, logprobs=0),
        )
        return Head("resp_1", 7.9, asked)

    def stream(self) -> ResponseStream:
        return self.renderer().stream(self.head())

    def whole(self, *pieces: list[Delta]) -> dict[str, Any]:
        choice = Gathered(0)
        for piece in pieces:
            choice.add(piece)
        return self.renderer().whole(self.head(), [choice], ACCOUNT)


def read(frames: Iterable[bytes]) -> list[dict[str, Any]]:
    events = []
    for data in frames:
        name, body = data.decode().removesuffix("\n\n").split("\n")
        event = json.loads(body.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        EVENT.validate_python(event)
        events.append(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def streamed(scene: Scene, *pieces: list[Delta]) -> list[dict[str, Any]]:
    out = scene.stream()
    frames = [*out.begin(ACCOUNT)]
    for piece in pieces:
        frames += out.frames(0, piece, ())
    return read([*frames, *out.end(ACCOUNT)])


def kinds(events: Iterable[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_the_events_of_a_text_come_in_openais_order() -> None:
    events = streamed(Scene(), [TextDelta("a")], [TextDelta("b"), Finish("stop")])
    assert kinds(events) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert events[2]["item"]["content"] == []
    assert events[6]["text"] == "ab"
    *before, last = events
    assert all(event.get("response", {}).get("usage") is None for event in before)
    assert last["response"]["usage"]["total_tokens"] == 43
    assert last["response"]["completed_at"] == 9


def test_the_events_of_a_call_come_in_openais_order() -> None:
    events = streamed(Scene(), [TextDelta("Wait.")], CALL, [Finish("tool_calls")])
    assert kinds(events)[6:] == [
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert events[-3]["name"] == "f"
    text, call = events[-1]["response"]["output"]
    assert text["content"][0]["text"] == "Wait."
    assert (call["call_id"], call["name"], call["arguments"]) == ("c1", "f", '{"a": 1}')
    assert [event["output_index"] for event in events if "output_index" in event] == [0] * 6 + [
        1
    ] * 5


def test_a_limit_leaves_the_response_and_its_last_item_incomplete() -> None:
    events = streamed(Scene(), [TextDelta("a"), Finish("length")])
    assert kinds(events)[-1] == "incomplete"
    body = events[-1]["response"]
    assert body["status"] == body["output"][0]["status"] == "incomplete"
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert body["completed_at"] is None


def test_an_answer_of_nothing_is_an_empty_text() -> None:
    body = Scene().whole([Finish("stop")])
    assert body["output"][0]["content"][0]["text"] == ""


def test_a_prewarm_has_no_output_and_is_complete() -> None:
    scene = Scene(max_tokens=0)
    events = streamed(scene, [Finish("length")])
    assert kinds(events) == ["created", "in_progress", "completed"]
    assert events[-1]["response"]["output"] == []
    assert scene.whole([Finish("length")])["status"] == "completed"


def test_a_response_is_kept_before_its_last_event_is_sent() -> None:
    scene = Scene()
    out = scene.stream()
    list(out.begin(ACCOUNT))
    list(out.frames(0, [TextDelta("a"), Finish("stop")], ()))
    assert scene.kept == []
    (last,) = read_from(out.end(ACCOUNT))
    assert scene.kept == [last["response"]]


def read_from(frames: Iterable[bytes]) -> list[dict[str, Any]]:
    return [json.loads(data.decode().split("data: ", 1)[1]) for data in frames]


def test_diagnostics_come_with_the_usage() -> None:
    diagnosis = {"type": "cache_miss", "reason": "tools_changed", "cache_missed_tokens": 9}
    body = Scene(diagnosis=diagnosis).whole([TextDelta("a"), Finish("stop")])
    assert body["prompt_cache_diagnostics"] == diagnosis
    parsed = Response.model_validate(body, strict=True)
    assert parsed.usage is not None
    details = parsed.usage.input_tokens_details
    assert (details.cached_tokens, details.cache_write_tokens) == (32, 6)
    assert details.cache_write_tokens_details is not None
    assert details.cache_write_tokens_details.ttl_12h_tokens == 1


def test_a_failure_on_the_way_is_a_failed_response() -> None:
    out = Scene().stream()
    frames = [*out.begin(ACCOUNT), *out.frames(0, [TextDelta("a")], ())]
    failed = read([*frames, out.fail(server_error("Oh."))])[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["error"] == {"code": "server_error", "message": "Oh."}


def test_logprobs_go_with_the_text_that_they_belong_to() -> None:
    out = Scene().stream()
    a, b, c = (Token(letter, -1.0, (Token(b"x", -2.0),)) for letter in (b"a", b"b", b"c"))
    events = read(
        [
            *out.begin(ACCOUNT),
            *out.frames(0, [], [a]),
            *out.frames(0, [TextDelta("ab")], [b]),
            *out.frames(0, [Finish("stop")], [c]),
            *out.end(ACCOUNT),
        ]
    )
    (delta,) = [event for event in events if event["type"] == "response.output_text.delta"]
    assert [entry["token"] for entry in delta["logprobs"]] == ["a", "b"]
    part = events[-1]["response"]["output"][0]["content"][0]
    assert [entry["token"] for entry in part["logprobs"]] == ["a", "b", "c"]
    assert part["logprobs"][0]["top_logprobs"][0]["bytes"] == [120]


texts = st.lists(st.text("aé\n", max_size=3), max_size=3).map(
    lambda all: [TextDelta(t) for t in all]
)


@st.composite
def answers(draw: st.DrawFn) -> list[list[Delta]]:
    pieces: list[list[Delta]] = []
    calls = 0
    for is_call in draw(st.lists(st.booleans(), max_size=5)):
        if is_call:
            pieces.append([CallStart(calls, f"c{calls}", "f")])
            pieces += [
                [CallArguments(calls, t)] for t in draw(st.lists(st.text("aé\n", max_size=3)))
            ]
            calls += 1
        else:
            pieces.append(list(draw(texts)))
    reason = draw(st.sampled_from(["stop", "length"]))
    return [*pieces, [Finish("tool_calls" if calls and reason == "stop" else reason)]]


@settings(max_examples=examples(40))
@given(answers())
def test_the_stream_adds_up_to_the_whole_response_and_to_what_the_sdk_gathers(
    pieces: list[list[Delta]],
) -> None:
    events = streamed(Scene(), *pieces)
    whole = Scene().whole(*pieces)
    last = events[-1]["response"]
    assert last == whole
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == whole["output"]
    state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events:
        state.handle_event(EVENT.validate_python(event))


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_whole_response_is_the_sdks(reason: str) -> None:
    body = Scene().whole([TextDelta("Hi")], CALL, [Finish(reason)])
    parsed = Response.model_validate(body, strict=True)
    assert parsed.output_text == "Hi"
    assert parsed.model == "m"
