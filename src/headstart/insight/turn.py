"""One turn of a chat over HTTP: streamed, timed, cancelled by leaving it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from headstart.insight import http
from headstart.insight.sse import SSEDecoder
from headstart.insight.wire import (
    DONE,
    Chunk,
    EndpointError,
    Usage,
    error_message,
    first_model,
    parse_chunk,
)

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer and its account. Times in seconds from the moment the request was sent."""

    text: str
    ttft: float | None
    """None if nothing visible came."""
    last: float
    shown: int
    """Chunks with text; about one a token."""
    usage: Usage

    def account(self) -> str:
        """The line under the answer. What the server does not report is said to be unknown."""
        generated = self.usage.completion_tokens
        tokens = self.shown if generated is None else generated
        parts = [] if self.ttft is None else [f"TTFT {self.ttft * 1e3:.0f} ms"]
        parts.append(_prompt(self.usage))
        parts.append(f"generated {tokens:,}")
        if self.ttft is not None and tokens > 1 and self.last > self.ttft:
            parts.append(f"{(tokens - 1) / (self.last - self.ttft):.1f} tok/s")
        return " · ".join(parts)


def _prompt(usage: Usage) -> str:
    prompt, cached = usage.prompt_tokens, usage.cached_tokens
    if prompt is None:
        return "prompt tokens not reported"
    if cached is None:
        return f"prompt {prompt:,} tokens, reuse not reported"
    share = cached / prompt if prompt else 0
    return f"prompt {prompt:,} tokens, {cached:,} reused ({share:.0%})"


class ChatEndpoint:
    """A server's chat API, by its base URL (the one that ends in /v1)."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client = client
        self._url = url.rstrip("/")

    def first_model(self) -> str:
        """The model the server names first. Raises EndpointError."""
        try:
            response = self._client.get(f"{self._url}/models")
        except httpx.HTTPError as error:
            raise http.explain(error, self._url) from error
        _check(response)
        return first_model(response.content)

    def ask(
        self, options: dict[str, Any], messages: Sequence[Message], show: Callable[[str], None]
    ) -> Turn:
        """Stream the next answer, giving each piece to `show`. Raises EndpointError.

        Any exception on the way, KeyboardInterrupt too, closes the connection: that is how a
        server learns that nobody reads any more.
        """
        body = options | {
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        usage, text, times = Usage(), "", list[float]()
        sent = time.perf_counter()
        with self._chunks(msgspec.json.encode(body)) as chunks:
            for chunk in chunks:
                usage = chunk.usage or usage
                if piece := chunk.text:
                    times.append(time.perf_counter() - sent)
                    text += piece
                    show(piece)
        first, last = (times[0], times[-1]) if times else (None, 0.0)
        return Turn(text, first, last, len(times), usage)

    @contextmanager
    def _chunks(self, content: bytes) -> Iterator[Iterator[Chunk]]:
        url = f"{self._url}/chat/completions"
        try:
            with self._client.stream("POST", url, content=content) as response:
                if response.status_code != 200:
                    response.read()
                _check(response)
                yield _parse(response.iter_raw())
        except httpx.HTTPError as error:
            raise http.explain(error, self._url) from error


def _parse(received: Iterator[bytes]) -> Iterator[Chunk]:
    decoder = SSEDecoder()
    for data in received:
        for payload in decoder.feed(data):
            if payload != DONE:
                yield parse_chunk(payload)


def _check(response: httpx.Response) -> None:
    if response.status_code != 200:
        raise EndpointError(
            f"the server answered {response.status_code}: {error_message(response.content)}",
            status=response.status_code,
        )
