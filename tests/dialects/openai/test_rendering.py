"""Rendered bodies, read back with the official SDK's own types."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from openai.types import Completion, CompletionUsage, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from headstart.dialects.chat import ChatRequest, ToolChoice
from headstart.dialects.deltas import CallArguments, CallStart, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import (
    ApiError,
    context_length_exceeded,
    invalid,
    model_not_found,
    rate_limited,
    server_error,
)
from headstart.dialects.gathered import Gathered
from headstart.dialects.openai.chat_response import chat_response
from headstart.dialects.openai.chat_stream import ChatStream
from headstart.dialects.openai.completion_response import (
    CompletionChoice,
    CompletionStream,
    completion_response,
)
from headstart.dialects.openai.errors import envelope
from headstart.dialects.openai.logprobs import LegacyLogprobs
from headstart.dialects.openai.models import model, model_list
from headstart.dialects.openai.sse import DONE, frame
from headstart.dialects.openai.usage import render_hits_and_misses, render_usage
from headstart.dialects.sampling import Sampling
from headstart.ledger.account import Account
from headstart.ledger.rules import Rules
from headstart.text.chat import Conversation, Message


@dataclass
class Token:
    data: bytes
    logprob: float
    top: tuple["Token", ...] = ()


EURO = "€".encode()
USAGE = Account(prompt=40, read=32, output=3)
CALL = [CallStart(0, "call_1", "f"), CallArguments(0, '{"a"'), CallArguments(0, ": 1}")]


def chunks(frames: Iterable[bytes]) -> list[dict[str, Any]]:
    parsed = []
    for data in frames:
        if data == DONE:
            continue
        assert data.startswith(b"data: ")
        assert data.endswith(b"\n\n")
        parsed.append(json.loads(data[6:]))
    return parsed


def head(*, logprobs: int | None = None, include_usage: bool = False) -> Head:
    asked = ChatRequest(
        model="m",
        conversation=Conversation((Message("user", "Hi"),)),
        tool_choice=ToolChoice("none"),
        sampling=Sampling(logprobs=logprobs),
        include_usage=include_usage,
    )
    return Head("chatcmpl-1", 7.9, asked)


def stream(**options: Any) -> ChatStream:
    return ChatStream(head(**options))


def test_usage_always_tells_the_cached_tokens() -> None:
    for cached in (0, 32):
        usage = CompletionUsage.model_validate(render_usage(Account(40, cached, 3)))
        assert usage.prompt_tokens == 40
        assert usage.total_tokens == 43
        assert usage.prompt_tokens_details is not None
        assert usage.prompt_tokens_details.cached_tokens == cached


def test_what_was_written_is_told_also_as_nothing() -> None:
    none, some = Account(40, 8, 3), Account(40, 8, 3, {"30m": 20, "12h": 4})
    details = [render_usage(each)["prompt_tokens_details"] for each in (none, some)]
    assert [each["cache_write_tokens"] for each in details] == [0, 24]


def test_hits_and_misses_add_up_to_the_prompt() -> None:
    usage = render_hits_and_misses(Account(40, 32, 3))
    assert usage["prompt_cache_hit_tokens"] == usage["prompt_tokens_details"]["cached_tokens"] == 32
    assert usage["prompt_cache_miss_tokens"] == 8
    assert "cache_write_tokens" not in usage["prompt_tokens_details"]


def test_a_chat_response_has_every_field_the_sdk_requires() -> None:
    choice = Gathered(0)
    choice.add([TextDelta("Hel")])
    choice.add([TextDelta("lo"), Finish("stop")])
    response = ChatCompletion.model_validate(chat_response(head(), [choice], render_usage(USAGE)))
    assert response.object == "chat.completion"
    assert response.choices[0].message.content == "Hello"
    assert response.choices[0].message.tool_calls is None
    assert response.choices[0].finish_reason == "stop"
    assert response.choices[0].logprobs is None


def test_calls_without_text_leave_the_content_null() -> None:
    choice = Gathered(0)
    choice.add([*CALL, CallStart(1, "call_2", "g"), Finish("tool_calls")])
    response = ChatCompletion.model_validate(chat_response(head(), [choice], render_usage(USAGE)))
    message = response.choices[0].message
    assert message.content is None
    assert message.tool_calls is not None
    first, second = message.tool_calls
    assert first.type == "function"
    assert second.type == "function"
    assert (first.id, first.function.name, first.function.arguments) == (
        "call_1",
        "f",
        '{"a": 1}',
    )
    assert second.function.arguments == ""


def test_a_chat_stream_begins_with_the_role_and_ends_with_the_reason() -> None:
    out = stream()
    frames = [
        *out.frames(0, [TextDelta("a")]),
        *out.frames(0, [TextDelta("b"), Finish("length")]),
        *out.end(USAGE),
    ]
    first, *middle, last = chunks(frames)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "", "refusal": None}
    assert [c["choices"][0]["delta"] for c in middle] == [{"content": "a"}, {"content": "b"}]
    assert last["choices"][0] == {
        "index": 0,
        "delta": {},
        "logprobs": None,
        "finish_reason": "length",
    }
    for chunk in (first, *middle, last):
        assert "usage" not in chunk
        assert ChatCompletionChunk.model_validate(chunk).object == "chat.completion.chunk"


def test_a_wanted_usage_comes_last_and_is_null_before() -> None:
    out = stream(include_usage=True)
    *before, last = chunks([*out.frames(0, [TextDelta("a"), Finish("stop")]), *out.end(USAGE)])
    assert all(chunk["usage"] is None for chunk in before)
    assert last["choices"] == []
    assert last["usage"] == render_usage(USAGE)


def test_every_choice_of_a_stream_gets_its_own_role() -> None:
    out = stream()
    deltas = chunks([*out.frames(0, [TextDelta("a")]), *out.frames(1, [TextDelta("b")])])
    roles = [c["choices"][0]["index"] for c in deltas if "role" in c["choices"][0]["delta"]]
    assert roles == [0, 1]


def test_a_streamed_call_names_itself_first_and_then_only_adds_arguments() -> None:
    deltas = [c["choices"][0]["delta"] for c in chunks(stream().frames(0, CALL))][1:]
    assert [delta["tool_calls"][0] for delta in deltas] == [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "f", "arguments": ""},
        },
        {"index": 0, "function": {"arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]


def test_chat_logprobs_carry_bytes_and_alternatives() -> None:
    token = Token(EURO[:2], -0.5, (Token(b"a", -1.0), Token(b"b", float("-inf"))))
    choice = Gathered(0)
    choice.add([TextDelta(""), Finish("stop")], [token])
    response = ChatCompletion.model_validate(
        chat_response(head(logprobs=0), [choice], render_usage(USAGE))
    )
    logprobs = response.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content is not None
    (entry,) = logprobs.content
    assert (entry.token, entry.bytes, entry.logprob) == ("\ufffd", [0xE2, 0x82], -0.5)
    assert [(top.token, top.logprob) for top in entry.top_logprobs] == [("a", -1.0), ("b", -9999.0)]


def test_logprobs_without_text_still_ride_on_a_chunk_before_the_last() -> None:
    out = stream(logprobs=0)
    _, carrier, last = chunks(out.frames(0, [Finish("stop")], [Token(b"a", -1.0)]))
    assert carrier["choices"][0]["delta"] == {"content": ""}
    assert carrier["choices"][0]["logprobs"]["content"][0]["token"] == "a"
    assert last["choices"][0]["logprobs"] is None


def test_logprobs_of_one_piece_are_sent_once() -> None:
    out = stream(logprobs=0)
    sent = chunks(out.frames(0, [TextDelta("a"), TextDelta("b")], [Token(b"ab", -1.0)]))
    assert [c["choices"][0]["logprobs"] is None for c in sent] == [True, False, True]


def test_legacy_offsets_count_characters_also_across_split_ones() -> None:
    tokens = [Token(b"a", -1), Token(EURO[:2], -2), Token(EURO[2:], -3), Token(b"b", -4)]
    rendered = LegacyLogprobs().render(tokens)
    assert rendered["text_offset"] == [0, 1, 1, 2]
    assert rendered["tokens"] == ["a", "bytes:\\xe2\\x82", "bytes:\\xac", "b"]
    assert rendered["token_logprobs"] == [-1, -2, -3, -4]


def test_legacy_offsets_go_on_from_chunk_to_chunk() -> None:
    legacy = LegacyLogprobs()
    legacy.render([Token(b"abc", -1)])
    assert legacy.render([Token(b"d", -1)])["text_offset"] == [3]


def test_a_text_completion_is_the_sdks() -> None:
    choice = CompletionChoice(1, with_logprobs=True)
    choice.add("He", [Token(b"He", -1, (Token(b"Ha", -2),))], None)
    choice.add("y", [Token(b"y", -1)], "length")
    body = completion_response("cmpl-1", 7, "m", [choice], USAGE)
    response = Completion.model_validate(body)
    (only,) = response.choices
    assert (only.index, only.text, only.finish_reason) == (1, "Hey", "length")
    assert only.logprobs is not None
    assert only.logprobs.top_logprobs == [{"Ha": -2.0}, {}]
    assert response.object == "text_completion"


def test_a_streamed_text_completion_skips_empty_pieces() -> None:
    out = CompletionStream("cmpl-1", 7, "m", include_usage=True, with_logprobs=False)
    assert list(out.frames(0, "", [], None)) == []
    text, end = chunks([*out.frames(0, "a", [], None), *out.frames(0, "", [], "stop")])
    assert text["choices"][0]["text"] == "a"
    assert text["usage"] is None
    assert end["choices"][0]["finish_reason"] == "stop"
    assert chunks(out.end(USAGE))[0]["choices"] == []


def test_the_stream_ends_with_openais_word() -> None:
    assert DONE == b"data: [DONE]\n\n"
    assert frame({"a": "é\n"}) == 'data: {"a":"é\\n"}\n\n'.encode()


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (invalid("x", "a.b"), 400, None),
        (model_not_found("x", ("m",)), 404, "model_not_found"),
        (
            context_length_exceeded("x", "m", prompt_tokens=2, limit=1),
            400,
            "context_length_exceeded",
        ),
        (rate_limited("x", 3), 429, "rate_limit_exceeded"),
        (server_error("x"), 500, "server_error"),
    ],
)
def test_errors_have_openais_envelope(error: ApiError, status: int, code: str | None) -> None:
    assert error.status == status
    body = envelope(error)
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert body["error"]["code"] == code


def test_models_are_the_sdks_and_adapters_name_their_parent() -> None:
    profile = Rules.packaged().profile("openai", "gpt-4o")
    listed = model_list([model("m", 7, profile), model("sql", 7, profile, "m")])
    assert listed["object"] == "list"
    assert [Model.model_validate(entry).id for entry in listed["data"]] == ["m", "sql"]
    assert "parent" not in listed["data"][0]
    assert listed["data"][1]["parent"] == "m"
    told = {"contract": "openai_interval", "minimum": 1024, "unit": 128}  # Rule O12.
    assert listed["data"][0]["cache"] == told
