"""Answers, whole and streamed, and errors."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from google.genai import types

from headstart.dialects.chat import ChatRequest, ToolChoice
from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.dialects.dialect import Head
from headstart.dialects.errors import (
    ApiError,
    context_length_exceeded,
    invalid,
    rate_limited,
    server_error,
)
from headstart.dialects.gathered import Gathered
from headstart.dialects.gemini.answer import whole
from headstart.dialects.gemini.errors import GeminiManners
from headstart.dialects.gemini.frames import Events, Frames, JsonArray
from headstart.dialects.gemini.stream import GeminiStream
from headstart.dialects.sampling import Sampling
from headstart.ledger.account import Account
from headstart.text.chat import Conversation

ACCOUNT = Account(prompt=10, read=4, output=3)
CALLS: list[Delta] = [
    TextDelta("Let me see."),
    CallStart(0, "id0", "f"),
    CallArguments(0, '{"a": '),
    CallArguments(0, "1}"),
    CallStart(1, "id1", "g"),
    CallArguments(1, "{}"),
    Finish("tool_calls"),
]
PARTS = [
    {"text": "Let me see."},
    {"functionCall": {"name": "f", "args": {"a": 1}, "id": "id0"}},
    {"functionCall": {"name": "g", "args": {}, "id": "id1"}},
]


@dataclass(frozen=True)
class Token:
    data: bytes
    logprob: float
    top: Sequence["Token"] = ()


def head(n: int = 1) -> Head:
    asked = ChatRequest("m", Conversation(()), ToolChoice("auto"), Sampling(), n=n)
    return Head("r1", 0.0, asked)


def rendered(deltas: Sequence[Delta], account: Account = ACCOUNT) -> dict[str, Any]:
    choice = Gathered()
    choice.add(deltas)
    body = whole(head(), [choice], account)
    types.GenerateContentResponse.model_validate(body)
    return body


def chunks(*pieces: tuple[int, list[Delta]], n: int = 1, frames: Frames | None = None) -> Any:
    stream = GeminiStream(head(n), frames or JsonArray())
    sent = [*stream.begin(ACCOUNT)]
    for index, deltas in pieces:
        sent += stream.frames(index, deltas)
    return b"".join([*sent, *stream.end(ACCOUNT)])


def test_an_answer_has_text_calls_reason_and_usage() -> None:
    assert rendered(CALLS) == {
        "candidates": [
            {"content": {"parts": PARTS, "role": "model"}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 3,
            "totalTokenCount": 13,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
            "cachedContentTokenCount": 4,
            "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 4}],
        },
        "modelVersion": "m",
        "responseId": "r1",
    }


def test_a_miss_has_no_word_of_the_cache() -> None:
    usage = rendered([Finish("stop")], Account(prompt=10, read=0, output=1))["usageMetadata"]
    assert not [name for name in usage if "ache" in name]


@pytest.mark.parametrize(
    ("deltas", "reason", "parts"),
    [
        ([TextDelta("a"), Finish("length")], "MAX_TOKENS", [{"text": "a"}]),
        ([Finish("stop")], "STOP", [{"text": ""}]),
        (
            [CallStart(0, "i", "f"), CallArguments(0, '{"a'), Finish("length")],
            "MAX_TOKENS",
            [{"text": ""}],
        ),
        ([CallStart(0, "i", "f"), Finish("length")], "MAX_TOKENS", [{"text": ""}]),
        (
            [CallStart(0, "i", "f"), CallArguments(0, "[1]"), Finish("tool_calls")],
            "MALFORMED_FUNCTION_CALL",
            [{"text": ""}],
        ),
    ],
)
def test_whole_and_streamed_answers_end_alike(
    deltas: list[Delta], reason: str, parts: list[Any]
) -> None:
    (candidate,) = rendered(deltas)["candidates"]
    assert (candidate["finishReason"], candidate["content"]["parts"]) == (reason, parts)
    *_, last = json.loads(chunks((0, deltas)))
    assert last["candidates"][0]["finishReason"] == reason


def test_a_stream_ends_each_candidate_once_and_in_its_last_chunk() -> None:
    sent = json.loads(
        chunks(
            (0, [TextDelta("a")]),
            (1, []),
            (1, [TextDelta("x"), Finish("stop")]),
            (0, [TextDelta("b")]),
            (0, [Finish("length")]),
            n=2,
        )
    )
    reasons = [[c.get("finishReason") for c in chunk["candidates"]] for chunk in sent]
    assert reasons == [[None], [None], ["MAX_TOKENS", "STOP"]]
    assert ["usageMetadata" in chunk for chunk in sent] == [False, False, True]
    said = {0: "", 1: ""}
    for chunk in sent:
        for candidate in chunk["candidates"]:
            said[candidate["index"]] += candidate["content"]["parts"][0]["text"]
    assert said == {0: "ab", 1: "x"}


def test_calls_are_streamed_whole() -> None:
    sent = json.loads(chunks(*((0, [delta]) for delta in CALLS)))
    parts = [part for chunk in sent for part in chunk["candidates"][0]["content"]["parts"]]
    assert parts == PARTS


def test_events_are_data_lines_alone() -> None:
    body = chunks((0, [TextDelta("a\nb")]), (0, [Finish("stop")]), frames=Events())
    frames = body.decode().split("\r\n\r\n")
    assert frames.pop() == ""
    assert all(frame.startswith("data: {") and "\n" not in frame for frame in frames)
    assert len(frames) == 2


@pytest.mark.parametrize("begun", [True, False])
def test_a_stream_that_fails_ends_with_the_envelope(begun: bool) -> None:
    for frames in (Events(), JsonArray()):
        stream = GeminiStream(head(), frames)
        sent = b"".join(stream.frames(0, [TextDelta("a")])) if begun else b""
        body = (sent + stream.fail(server_error("Oh."))).decode()
        *_, last = body.split("data: ") if body.startswith("data: ") else [body]
        read = json.loads(last)
        error = read[-1] if isinstance(read, list) else read
        assert error == {"error": {"code": 500, "message": "Oh.", "status": "INTERNAL"}}


def test_logprobs_are_told_by_token_with_their_mean() -> None:
    choice = Gathered()
    top = (Token(b"b", -0.5), Token(b"a", -1.5))
    choice.add([TextDelta("a"), Finish("stop")], [Token(b"a", -1.5, top), Token(b"\xe2", -0.5)])
    (candidate,) = whole(head(), [choice], ACCOUNT)["candidates"]
    assert candidate["avgLogprobs"] == -1.0
    read = types.Candidate.model_validate(candidate).logprobs_result
    assert read is not None
    assert [each.token for each in read.chosen_candidates or ()] == ["a", "\ufffd"]
    assert [each.token for each in (read.top_candidates or [])[0].candidates or ()] == ["b", "a"]


@pytest.mark.parametrize(
    ("error", "status", "word"),
    [
        (invalid("m"), 400, "INVALID_ARGUMENT"),
        (ApiError(403, "m"), 403, "PERMISSION_DENIED"),
        (ApiError(404, "m"), 404, "NOT_FOUND"),
        (ApiError(413, "m"), 400, "INVALID_ARGUMENT"),
        (rate_limited("m", 7), 429, "RESOURCE_EXHAUSTED"),
        (server_error("m"), 500, "INTERNAL"),
        (server_error("m", 503), 503, "UNAVAILABLE"),
    ],
)
def test_every_error_has_googles_status(error: ApiError, status: int, word: str) -> None:
    failure = GeminiManners().failure(error, "r")
    assert failure.status == status
    told = dict(failure.body["error"])
    details = told.pop("details", None)
    assert told == {"code": status, "message": "m", "status": word}
    if error.retry_after is not None:
        assert failure.headers == {"retry-after": "7"}
        assert details[0]["retryDelay"] == "7s"


def test_a_prompt_that_is_too_long_is_told_in_googles_words() -> None:
    error = context_length_exceeded("m", None, prompt_tokens=1030, limit=1024)
    assert GeminiManners().failure(error, "r").body["error"]["message"] == (
        "The input token count (1030) exceeds the maximum number of tokens allowed (1023)."
    )


def test_a_bad_key_is_a_bad_argument_with_googles_reason() -> None:
    failure = GeminiManners().failure(ApiError(401, "Incorrect API key provided."), "r")
    assert failure.status == 400
    error = failure.body["error"]
    assert error["message"] == "API key not valid. Please pass a valid API key."
    assert error["details"][0]["reason"] == "API_KEY_INVALID"
