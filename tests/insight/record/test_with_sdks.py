"""The official SDKs over a real socket, with the recorder in between."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
from google import genai
from google.genai import types
from tests.server.conftest import Live, start_real, tiny

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.source import read_requests
from headstart.insight.record import AsyncRecordingTransport, RecordingTransport
from headstart.insight.record import httpx2 as newer

__all__ = ["start_real", "tiny"]

SAID: Any = [{"role": "user", "content": "What is a cache, in 5 words? 缓存是什么？"}]

WHOLE = {"ignore_eos": True}


@pytest.fixture(scope="module")
def live(start_real: Any) -> Any:
    return start_real()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "asked.jsonl"


class Tapped(httpx.BaseTransport):
    """Below the recorder: what really goes over the wire."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self.sent: list[bytes] = []
        self.came: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.content)
        response = self._inner.handle_request(request)
        stream = response.stream
        assert isinstance(stream, httpx.SyncByteStream)
        came = self.came

        class Heard(httpx.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                for chunk in stream:
                    came.append(chunk)
                    yield chunk

            def close(self) -> None:
                stream.close()

        response.stream = Heard()
        return response


def read(path: Path) -> list[Asked]:
    return list(read_requests([str(path)]))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("stream", [False, True])
def test_openais_sdk_is_answered_as_ever_and_what_it_asked_is_there_verbatim(
    live: Live, path: Path, stream: bool
) -> None:
    wire = Tapped()
    with httpx.Client(transport=RecordingTransport(path, wire)) as http:
        client = live.client(http_client=http)
        options: Any = {"stream_options": {"include_usage": True}} if stream else {}
        answer: Any = client.chat.completions.create(
            model="tiny", messages=SAID, max_tokens=6, stream=stream, **options
        )
        usage = [chunk.usage for chunk in answer][-1] if stream else answer.usage
    (asked,) = read(path)
    assert wire.sent[0] in path.read_bytes()
    assert asked.account is not None
    assert (asked.account.prompt, asked.account.output) == (
        usage.prompt_tokens,
        usage.completion_tokens,
    )
    assert asked.account.read == usage.prompt_tokens_details.cached_tokens
    assert (asked.format, asked.model) == ("chat", "tiny")
    assert [piece.text for piece in asked.pieces] == [SAID[0]["content"]]
    assert (asked.ttft is not None) == stream
    (line,) = lines(path)
    assert line["url"] == f"{live.url}/v1/chat/completions"
    assert line["status"] == 200
    assert 0 <= (asked.ttft or 0) <= line["duration"] < 60
    assert asked.id.startswith("chatcmpl-")


@pytest.mark.parametrize("stream", [False, True])
def test_anthropics_sdk_likewise(live: Live, path: Path, stream: bool) -> None:
    with httpx2.Client(transport=newer.RecordingTransport(path)) as http:
        client = live.anthropic(http_client=http)
        if stream:
            with client.messages.stream(model="tiny", max_tokens=6, messages=SAID) as events:
                usage = events.get_final_message().usage
        else:
            usage = client.messages.create(model="tiny", max_tokens=6, messages=SAID).usage
    (asked,) = read(path)
    assert asked.body["messages"] == SAID
    assert asked.account is not None
    told = (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens)
    assert (asked.account.fresh, asked.account.read, asked.account.output) == told
    assert (asked.format, asked.vendor) == ("anthropic", "anthropic")
    assert asked.id.startswith("msg_")


@pytest.mark.parametrize("stream", [False, True])
def test_googles_sdk_likewise_and_no_key_is_written(live: Live, path: Path, stream: bool) -> None:
    options = types.HttpOptions(
        base_url=live.url, client_args={"transport": RecordingTransport(path)}
    )
    with genai.Client(api_key="secret-key", http_options=options) as client:
        if stream:
            chunks = client.models.generate_content_stream(model="tiny", contents="A cache?")
            usage = [chunk.usage_metadata for chunk in chunks][-1]
        else:
            usage = client.models.generate_content(model="tiny", contents="A cache?").usage_metadata
    (asked,) = read(path)
    assert usage is not None
    assert asked.account is not None
    assert asked.account.prompt == usage.prompt_token_count
    assert asked.account.output == usage.candidates_token_count
    assert (asked.format, asked.model) == ("gemini", "tiny")
    assert b"secret-key" not in path.read_bytes()


def test_async_clients_likewise(live: Live, path: Path) -> None:
    transport = AsyncRecordingTransport(path)
    outputs = [2, 3]

    async def ask() -> None:
        async with httpx.AsyncClient(transport=transport) as http:
            client = openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="x", http_client=http)
            await client.chat.completions.create(
                model="tiny", messages=SAID, max_tokens=2, extra_body=WHOLE
            )
            stream = await client.chat.completions.create(
                model="tiny",
                messages=SAID,
                max_tokens=3,
                stream=True,
                stream_options={"include_usage": True},
                extra_body=WHOLE,
            )
            assert [chunk async for chunk in stream]
        other = newer.AsyncRecordingTransport(transport.recorder)
        async with httpx2.AsyncClient(transport=other) as http2:
            claude = anthropic.AsyncAnthropic(base_url=live.url, api_key="x", http_client=http2)
            message = await claude.messages.create(model="tiny", messages=SAID, max_tokens=4)
            outputs.append(message.usage.output_tokens)
            assert transport.recorder.flush()

    asyncio.run(ask())
    accounts = [asked.account for asked in read(path)]
    assert [account.output for account in accounts if account is not None] == outputs


def test_a_stream_comes_chunk_by_chunk_as_it_was_sent(live: Live, path: Path) -> None:
    wire = Tapped()
    body = {"model": "tiny", "messages": SAID, "max_tokens": 20, "stream": True}
    with (
        httpx.Client(transport=RecordingTransport(path, wire)) as http,
        http.stream("POST", f"{live.url}/v1/chat/completions", json=body) as response,
    ):
        chunks = list(response.iter_raw())
    assert chunks == wire.came
    assert len(chunks) > 1


def test_a_stream_that_is_left_early_is_recorded_with_what_came(live: Live, path: Path) -> None:
    with httpx.Client(transport=RecordingTransport(path)) as http:
        stream = live.client(http_client=http).chat.completions.create(
            model="tiny",
            messages=SAID,
            max_tokens=300,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        next(iter(stream))
        stream.close()
    (asked,) = read(path)
    assert asked.account is None
    assert asked.id.startswith("chatcmpl-")


def test_refusals_and_dead_servers_are_raised_as_ever(
    live: Live, path: Path, closed_url: str
) -> None:
    with httpx.Client(transport=RecordingTransport(path)) as http:
        with pytest.raises(openai.NotFoundError):
            live.client(http_client=http).chat.completions.create(model="nobody", messages=SAID)
        dead = openai.OpenAI(base_url=closed_url, api_key="x", http_client=http, max_retries=0)
        with pytest.raises(openai.APIConnectionError):
            dead.chat.completions.create(model="tiny", messages=SAID)
    refused, failed = lines(path)
    assert refused["status"] == 404
    assert (failed.get("status"), failed["error"]) == (None, "ConnectError")
    assert len(read(path)) == 2
