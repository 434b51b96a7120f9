"""Asks for one streamed completion and takes the times. The only clock of the benchmark is here."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from headstart.insight import http
from headstart.insight.bench.plan import Request, Sample
from headstart.insight.bench.prompts import as_words
from headstart.insight.sse import SSEDecoder
from headstart.insight.wire import (
    DONE,
    EndpointError,
    Usage,
    error_message,
    first_model,
    parse_chunk,
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the endpoint accepts beyond the bare protocol; found by `probe`."""

    token_ids: bool = True
    """Prompts as token ids: exact lengths. Otherwise words, nearly exact."""
    ignore_eos: bool = True
    forced_token: int | None = None
    """A token that logit_bias makes it generate, proved by its output."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One stream as it arrived. Times in seconds from the moment the request was sent."""

    ttft: float
    last: float
    total: float
    shown: int
    """Chunks that show a token."""
    text: str
    usage: Usage


class Endpoint:
    """An OpenAI-compatible server, by its base URL (the one that ends in /v1)."""

    def __init__(self, client: httpx.AsyncClient, url: str, model: str = "") -> None:
        self._client = client
        self.url = url.rstrip("/")
        self.model = model
        self._begun = time.perf_counter()

    async def first_model(self) -> str:
        """The model it names first. Raises EndpointError."""
        try:
            response = await self._client.get(f"{self.url}/models")
        except httpx.HTTPError as error:
            raise http.explain(error, self.url) from error
        if response.status_code != 200:
            raise _refused(response.status_code, response.content)
        return first_model(response.content)

    async def complete(self, body: dict[str, Any]) -> Completion:
        """Stream a completion to its end. Raises EndpointError, also when no token came."""
        content = msgspec.json.encode({"model": self.model, "stream": True} | body)
        try:
            return await self._stream(content)
        except httpx.HTTPError as error:
            raise http.explain(error, self.url) from error

    async def _stream(self, content: bytes) -> Completion:
        decoder, usage, text = SSEDecoder(), Usage(), ""
        times: list[float] = []
        sent = time.perf_counter()
        request = self._client.stream("POST", f"{self.url}/completions", content=content)
        async with request as response:
            if response.status_code != 200:
                raise _refused(response.status_code, await response.aread())
            async for received in response.aiter_raw():
                arrived = time.perf_counter() - sent
                for payload in decoder.feed(received):
                    if payload == DONE:
                        continue
                    chunk = parse_chunk(payload)
                    usage = chunk.usage or usage
                    text += chunk.text
                    if chunk.shows_token:
                        times.append(arrived)
        total = time.perf_counter() - sent
        if not times:
            raise EndpointError(f"{self.url} ended a stream without a single token")
        return Completion(times[0], times[-1], total, len(times), text, usage)

    async def measure(self, request: Request, abilities: Abilities, arm: str) -> Sample:
        """One request of a plan as a sample. Raises EndpointError."""
        body = request_body(request, abilities)
        started = time.perf_counter() - self._begun
        got = await self.complete(body)
        reported = got.usage.completion_tokens
        return Sample(
            scenario=request.scenario,
            arm=arm,
            role=request.role,
            point=request.point,
            repeat=request.repeat,
            sent_tokens=len(request.prompt),
            max_tokens=request.max_tokens,
            reusable=request.reusable,
            started=started,
            ttft=got.ttft,
            last=got.last,
            total=got.total,
            prompt_tokens=got.usage.prompt_tokens,
            completion_tokens=got.shown if reported is None else reported,
            cached_tokens=got.usage.cached_tokens,
        )


def request_body(request: Request, abilities: Abilities) -> dict[str, Any]:
    """The body of a planned request, greedy, in the form this endpoint accepts."""
    body = completion_body(request.prompt, request.max_tokens, abilities)
    return body | ({"logit_bias": {str(request.force): 100}} if request.force is not None else {})


def completion_body(prompt: Sequence[int], max_tokens: int, abilities: Abilities) -> dict[str, Any]:
    """A greedy completion of `prompt`, with usage at the end of the stream."""
    body: dict[str, Any] = {
        "prompt": list(prompt) if abilities.token_ids else as_words(prompt),
        "max_tokens": max_tokens,
        "temperature": 0,
        "stream_options": {"include_usage": True},
    }
    return body | ({"ignore_eos": True} if abilities.ignore_eos else {})


def _refused(status: int, body: bytes) -> EndpointError:
    return EndpointError(f"the endpoint answered {status}: {error_message(body)}", status=status)
