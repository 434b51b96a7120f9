"""Streams that have nothing to say for a while say so, in a way that every client takes."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import openai
import pytest
from google.genai import errors as gemini_errors
from tests.server.test_failures import ScriptedEngine

from headstart.engine.api import Chunk

HELLO: Any = [{"role": "user", "content": "Hello"}]
QUIET = 0.03
SILENCE = 0.25
TALE = [SILENCE, Chunk(0, "Hel", tokens=1), SILENCE, Chunk(0, "lo", tokens=1, finish_reason="stop")]
STREAMS = {
    "/v1/chat/completions": {"model": "tiny", "messages": HELLO, "stream": True},
    "/v1/completions": {"model": "tiny", "prompt": "Hello", "stream": True},
    "/v1/responses": {"model": "tiny", "input": "Hello", "stream": True},
    "/v1/messages": {"model": "tiny", "messages": HELLO, "max_tokens": 9, "stream": True},
    "/v1beta/models/tiny:streamGenerateContent?alt=sse": {
        "contents": [{"parts": [{"text": "Hello"}]}]
    },
    "/v1beta/models/tiny:streamGenerateContent": {"contents": [{"parts": [{"text": "Hello"}]}]},
}
Start = Callable[..., Any]
Ask = Callable[[Any], Iterator[str | None]]


class Failed(Exception):
    """What the SDK hands on as an event."""


def in_chat(live: Any) -> Iterator[str | None]:
    chunks = live.client().chat.completions.create(model="tiny", messages=HELLO, stream=True)
    return (chunk.choices[0].delta.content for chunk in chunks)


def in_responses(live: Any) -> Iterator[str | None]:
    for event in live.client().responses.create(model="tiny", input="Hello", stream=True):
        if event.type == "response.failed":
            raise Failed(event.response.error)
        if event.type == "response.output_text.delta":
            yield event.delta


def in_messages(live: Any) -> Iterator[str | None]:
    with live.anthropic().messages.stream(model="tiny", messages=HELLO, max_tokens=9) as stream:
        yield from stream.text_stream


def in_contents(live: Any) -> Iterator[str | None]:
    client = live.gemini()
    for chunk in client.models.generate_content_stream(model="tiny", contents="Hello"):
        yield chunk.text


SDKS: dict[str, tuple[Ask, type[Exception]]] = {
    "chat": (in_chat, openai.APIError),
    "responses": (in_responses, Failed),
    "messages": (in_messages, anthropic.APIError),
    "contents": (in_contents, gemini_errors.APIError),
}


@pytest.mark.parametrize("path", STREAMS)
def test_a_silent_stream_sends_empty_lines_between_whole_frames(
    start_scripted: Start, path: str
) -> None:
    first, *others = pieces(start_scripted(ScriptedEngine(TALE), keep_alive_seconds=QUIET), path)
    assert first == b"\n"
    said = [piece for piece in others if piece != b"\n"]
    assert len(others) - len(said) >= 4
    assert b"Hel" in b"".join(said)
    assert others.index(said[0]) < len(others) - 1 - others[::-1].index(b"\n")


@pytest.mark.parametrize("path", STREAMS)
def test_with_no_seconds_silence_is_silent(start_scripted: Start, path: str) -> None:
    assert b"\n" not in pieces(start_scripted(ScriptedEngine(TALE), keep_alive_seconds=0), path)


def pieces(live: Any, path: str) -> list[bytes]:
    """The body, as it came."""
    version = {"anthropic-version": "2023-06-01"}
    with (
        live.http(headers=version) as http,
        http.stream("POST", path, json=STREAMS[path]) as response,
    ):
        assert response.status_code == 200
        return list(response.iter_raw())


@pytest.mark.parametrize("sdk", SDKS)
def test_the_sdks_read_a_stream_that_kept_itself_alive(start_scripted: Start, sdk: str) -> None:
    live = start_scripted(ScriptedEngine(TALE), keep_alive_seconds=QUIET)
    ask, _ = SDKS[sdk]
    assert "".join(text or "" for text in ask(live)) == "Hello"


@pytest.mark.parametrize("sdk", SDKS)
def test_a_failure_behind_a_silence_is_an_error_that_the_sdks_raise(
    start_scripted: Start, sdk: str
) -> None:
    script = [SILENCE, RuntimeError("secret detail")]
    live = start_scripted(ScriptedEngine(script), keep_alive_seconds=QUIET)
    ask, error = SDKS[sdk]
    with pytest.raises(error) as caught:
        list(ask(live))
    assert "secret" not in str(caught.value)


def test_a_client_that_waits_less_than_the_silence_gets_its_answer(start_scripted: Start) -> None:
    impatient = httpx.Timeout(SILENCE / 2)
    live = start_scripted(ScriptedEngine(TALE), keep_alive_seconds=QUIET)
    client = live.client(http_client=httpx.Client(trust_env=False)).with_options(timeout=impatient)
    chunks = client.chat.completions.create(model="tiny", messages=HELLO, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello"


def test_a_client_that_leaves_in_the_silence_takes_its_work_with_it(
    start_scripted: Start, eventually: Callable[..., None]
) -> None:
    live = start_scripted(ScriptedEngine([30.0]), keep_alive_seconds=QUIET)
    path, body = next(iter(STREAMS.items()))
    with live.http() as http, http.stream("POST", path, json=body) as response:
        next(response.iter_raw())
    eventually(lambda: live.engine.generations[0].closed > 0)
