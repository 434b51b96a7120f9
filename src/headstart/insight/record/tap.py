"""What both transports do with a request and its answer, whichever httpx they belong to."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Protocol

from headstart.insight.record.exchange import Exchange
from headstart.insight.record.recorder import Recorder


class Request(Protocol):
    """As far as it is looked at."""

    @property
    def method(self) -> str:
        """Of HTTP."""
        ...

    @property
    def url(self) -> object:
        """Its `str()` is the whole URL."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names are found in any case."""
        ...

    @property
    def content(self) -> bytes:
        """The body, if it is in memory."""
        ...


class Response(Protocol):
    """As far as it is looked at."""

    @property
    def status_code(self) -> int:
        """Of HTTP."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names are found in any case."""
        ...

    @property
    def content(self) -> bytes:
        """The body, if it is in memory."""
        ...


def begin(recorder: Recorder, request: Request, unread: type[Exception]) -> Exchange | None:
    """None for what isn't recorded. `unread` is what a body raises that isn't in memory."""
    if not recorder.wants(request.method, str(request.url)):
        return None
    try:
        body = request.content
    except unread:  # It is made while it is sent, and not ours to read.
        return None
    return recorder.begin(str(request.url), request.headers, body)


def is_read(
    recorder: Recorder, exchange: Exchange, response: Response, unread: type[Exception]
) -> bool:
    """Note the head; whether the body is there already, as from a transport that mocks one."""
    recorder.answered(exchange, response.status_code, response.headers)
    try:
        content = response.content
    except unread:
        return False
    recorder.heard(exchange, content)
    recorder.end(exchange)
    return True


def chunks(recorder: Recorder, exchange: Exchange, stream: Iterable[bytes]) -> Iterator[bytes]:
    """The same, one by one, as they come."""
    try:
        for chunk in stream:
            recorder.heard(exchange, chunk)
            yield chunk
    except GeneratorExit:  # Whoever reads it has enough.
        raise
    except BaseException as error:
        recorder.end(exchange, error)
        raise
    finally:
        recorder.end(exchange)


async def achunks(
    recorder: Recorder, exchange: Exchange, stream: AsyncIterable[bytes]
) -> AsyncIterator[bytes]:
    """The same, one by one, as they come."""
    try:
        async for chunk in stream:
            recorder.heard(exchange, chunk)
            yield chunk
    except GeneratorExit:
        raise
    except BaseException as error:
        recorder.end(exchange, error)
        raise
    finally:
        recorder.end(exchange)
