"""The transports for httpx: they hand everything on as it is, and tell a recorder of it.

    client = OpenAI(http_client=httpx.Client(transport=RecordingTransport("asked.jsonl")))

`httpx2.py` has the same for SDKs that are built on that package, such as Anthropic's from 2 on.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx

from headstart.insight.record import tap
from headstart.insight.record.exchange import Exchange
from headstart.insight.record.recorder import Recorder


class RecordingTransport(httpx.BaseTransport):
    """For `httpx.Client`."""

    def __init__(
        self,
        to: str | Path | Recorder,
        transport: httpx.BaseTransport | None = None,
        **options: Any,
    ) -> None:
        """`transport`: the one that sends; httpx's own unless told. `options`: the recorder's."""
        self.recorder = to if isinstance(to, Recorder) else Recorder(to, **options)
        self._inner = httpx.HTTPTransport() if transport is None else transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it. Raises what the other transport raises, and nothing else."""
        exchange = tap.begin(self.recorder, request, httpx.StreamError)
        if exchange is None:
            return self._inner.handle_request(request)
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            self.recorder.end(exchange, error)
            raise
        if not tap.is_read(self.recorder, exchange, response, httpx.StreamError):
            assert isinstance(response.stream, httpx.SyncByteStream), "it is a sync transport's"
            response.stream = _Tapped(response.stream, exchange, self.recorder)
        return response

    def close(self) -> None:
        """Close the other transport, and wait a moment for what isn't written yet."""
        self._inner.close()
        self.recorder.close()


class AsyncRecordingTransport(httpx.AsyncBaseTransport):
    """For `httpx.AsyncClient`."""

    def __init__(
        self,
        to: str | Path | Recorder,
        transport: httpx.AsyncBaseTransport | None = None,
        **options: Any,
    ) -> None:
        """As `RecordingTransport`."""
        self.recorder = to if isinstance(to, Recorder) else Recorder(to, **options)
        self._inner = httpx.AsyncHTTPTransport() if transport is None else transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it. Raises what the other transport raises, and nothing else."""
        exchange = tap.begin(self.recorder, request, httpx.StreamError)
        if exchange is None:
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            self.recorder.end(exchange, error)
            raise
        if not tap.is_read(self.recorder, exchange, response, httpx.StreamError):
            assert isinstance(response.stream, httpx.AsyncByteStream), "it is an async transport's"
            response.stream = _AsyncTapped(response.stream, exchange, self.recorder)
        return response

    async def aclose(self) -> None:
        """Close the other transport. What isn't written yet is soon; nothing here waits for it."""
        await self._inner.aclose()
        self.recorder.close(timeout=0)


class _Tapped(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, exchange: Exchange, recorder: Recorder) -> None:
        self._inner = inner
        self._exchange = exchange
        self._recorder = recorder

    def __iter__(self) -> Iterator[bytes]:
        return tap.chunks(self._recorder, self._exchange, self._inner)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._recorder.end(self._exchange)


class _AsyncTapped(httpx.AsyncByteStream):
    def __init__(
        self, inner: httpx.AsyncByteStream, exchange: Exchange, recorder: Recorder
    ) -> None:
        self._inner = inner
        self._exchange = exchange
        self._recorder = recorder

    def __aiter__(self) -> AsyncIterator[bytes]:
        return tap.achunks(self._recorder, self._exchange, self._inner)

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._recorder.end(self._exchange)
