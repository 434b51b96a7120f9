"""Whole messages, streams and usage: shapes checked against the SDK's own types."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.dialects.anthropic.bodies import parse

from headstart.contracts.diagnosis import Diagnosis
from headstart.dialects.anthropic.response import message_response
from headstart.dialects.anthropic.stream import MessageStream
from headstart.dialects.anthropic.usage import render_delta_usage, render_usage
from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import ApiError, server_error
from headstart.dialects.gathered import Gathered
from headstart.ledger.account import Account

ACCOUNT = Account(100, 60, 5, {"5m": 10, "1h": 20})
TEXT = [TextDelta("Hel"), TextDelta("lo"), Finish("stop")]
CALLS = [
    TextDelta("I look."),
    CallStart(0, "abc", "weather"),
    CallArguments(0, '{"city": '),
    CallArguments(0, '"Paris"}'),
    TextDelta("And"),
    CallStart(1, "def", "time"),
    CallArguments(1, "{}"),
    Finish("tool_calls"),
]


def head(diagnosis: Diagnosis | None = None, **fields: Any) -> Head:
    return Head("msg_0f", 0.0, parse(**fields), diagnosis)


def whole(deltas: Iterable[Delta], account: Account = ACCOUNT, **fields: Any) -> dict[str, Any]:
    choice = Gathered()
    choice.add(list(deltas))
    rendered = message_response(head(**fields), [choice], account)
    body = json.loads(msgspec.json.encode(rendered))
    assert isinstance(body, dict)
    TypeAdapter(Message).validate_python(body)
    return body


def events(frames: Iterable[bytes]) -> list[dict[str, Any]]:
    """The data of every frame; its `event:` line has to name its type."""
    found = []
    for frame in frames:
        name, data, *rest = frame.decode().split("\n")
        assert rest == ["", ""]
        value = json.loads(data.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        found.append(value)
    return found


def streamed(
    deltas: Iterable[Delta], account: Account = ACCOUNT, **fields: Any
) -> list[dict[str, Any]]:
    stream = MessageStream(head(**fields))
    frames = [*stream.begin(Account(account.prompt, account.read, 1, account.written))]
    for delta in deltas:
        frames += stream.frames(0, [delta])
    found = events([*frames, *stream.end(account)])
    for event in found:
        TypeAdapter(RawMessageStreamEvent).validate_python(event)
    return found


def content(deltas: Iterable[Delta]) -> list[dict[str, Any]]:
    """What a client gathers from a stream."""
    blocks: list[dict[str, Any]] = []
    inputs: dict[int, str] = {}
    for event in streamed(deltas):
        match event:
            case {"type": "content_block_start", "index": index, "content_block": block}:
                assert index == len(blocks)
                blocks.append(block)
            case {"delta": {"type": "text_delta", "text": text}, "index": index}:
                blocks[index]["text"] += text
            case {"delta": {"type": "input_json_delta", "partial_json": text}, "index": index}:
                inputs[index] = inputs.get(index, "") + text
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text)
    return blocks


def test_a_text_is_one_block() -> None:
    body = whole(TEXT)
    assert body["content"] == [{"type": "text", "text": "Hello"}]
    assert (body["stop_reason"], body["stop_sequence"]) == ("end_turn", None)
    assert (body["id"], body["model"], body["role"]) == ("msg_0f", "m", "assistant")


def test_texts_and_calls_keep_their_order() -> None:
    assert whole(CALLS)["content"] == [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_abc", "name": "weather", "input": {"city": "Paris"}},
        {"type": "text", "text": "And"},
        {"type": "tool_use", "id": "toolu_def", "name": "time", "input": {}},
    ]


@pytest.mark.parametrize("deltas", [TEXT, CALLS, [Finish("length")]])
def test_a_stream_gathers_to_the_whole_message(deltas: list[Delta]) -> None:
    assert content(deltas) == whole(deltas)["content"]


def test_the_events_come_in_order() -> None:
    assert [event["type"] for event in streamed(TEXT)] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize(
    ("finish", "output", "reason"),
    [
        (Finish("stop"), 5, "end_turn"),
        (Finish("stop", "END"), 5, "stop_sequence"),
        (Finish("tool_calls"), 5, "tool_use"),
        (Finish("length"), 9, "max_tokens"),
        (Finish("length"), 8, "model_context_window_exceeded"),
    ],
)
def test_why_it_ended(finish: Finish, output: int, reason: str) -> None:
    account = Account(10, 0, output)
    ended = {"stop_reason": reason, "stop_sequence": finish.stop}
    body = whole([finish], account, max_tokens=9)
    assert {name: body[name] for name in ended} == ended
    assert streamed([finish], account, max_tokens=9)[-2]["delta"] == ended


def test_the_cache_is_billed_beside_the_input_not_in_it() -> None:
    """Rule A10."""
    assert whole(TEXT)["usage"] == {
        "input_tokens": 10,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 60,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 5,
        "service_tier": "standard",
    }


def test_acct_02_a_stream_begins_with_the_final_cache_counters_and_repeats_them() -> None:
    first, *_, last, _ = streamed(TEXT)
    start, end = first["message"]["usage"], last["usage"]
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert [start[name] for name in names] == [end[name] for name in names] == [10, 30, 60]
    assert (start["output_tokens"], end["output_tokens"]) == (1, 5)


@given(
    st.lists(st.integers(0, 10**6), min_size=3, max_size=3),
    st.dictionaries(st.sampled_from(["5m", "1h", "30m"]), st.integers(0, 10**6)),
)
def test_every_input_token_is_billed_once(numbers: list[int], written: dict[str, int]) -> None:
    fresh, read, output = numbers
    usage = render_usage(Account(fresh + read + sum(written.values()), read, output, written))
    split = usage["cache_creation"]
    assert usage["cache_creation_input_tokens"] == sum(split.values())
    assert usage["input_tokens"] == fresh
    assert render_delta_usage(
        Account(fresh + read + sum(written.values()), read, output, written)
    ) == {name: usage[name] for name in usage if name not in ("cache_creation", "service_tier")}


def test_a_diagnosis_is_told_whole_and_streamed() -> None:
    found = Diagnosis("system_changed", missed=7)
    told = {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 7}}
    assert whole(TEXT, diagnosis=found)["diagnostics"] == told
    assert streamed(TEXT, diagnosis=found)[0]["message"]["diagnostics"] == told
    assert whole(TEXT, diagnosis=Diagnosis("unavailable"))["diagnostics"] == {
        "cache_miss_reason": {"type": "unavailable"}
    }
    assert whole(TEXT)["diagnostics"] is None


def test_a_failure_in_a_stream_is_an_error_event_with_the_requests_id() -> None:
    (event,) = events([MessageStream(head()).fail(server_error("It broke."))])
    assert event == {
        "type": "error",
        "error": {"type": "api_error", "message": "It broke."},
        "request_id": "req_0f",
    }


def test_a_server_without_room_is_overloaded() -> None:
    (event,) = events([MessageStream(head()).fail(ApiError(503, "Later."))])
    assert event["error"]["type"] == "overloaded_error"
