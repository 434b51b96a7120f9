"""From an answer's frames to a response that always ends in a way clients understand."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from headstart.dialects.errors import ApiError
from headstart.server.call import Call
from headstart.server.disconnect import while_connected
from headstart.server.errors import FORESEEN, to_api_error
from headstart.server.generate import Answer
from headstart.server.responses import EventStream

log = logging.getLogger(__name__)

KEEP_ALIVE = b"\n"
"""Says nothing in any dialect, and keeps proxies and clients from giving up.

An empty line ends an event, and here none has begun (WHATWG's server-sent events); in JSON it is
white space. DeepSeek sends comments, of which Google's client dies.
"""
Fail = Callable[[ApiError], bytes]
"""The frame that ends a failed stream."""


async def event_stream(
    call: Call, frames: AsyncGenerator[bytes], answer: Answer, fail: Fail
) -> EventStream:
    """Stream `frames`; cancel `answer` when the client goes.

    Waits for the first one. Where that is more than a KEEP_ALIVE, it is known what was reused, and
    what failed before it, which this raises, can be told by a status.
    """
    try:
        first = await while_connected(call.receive, _first(frames))
    except BaseException:
        await answer.aclose()
        raise

    async def close() -> None:
        await frames.aclose()
        await answer.aclose()

    return EventStream(_ended(first, frames, fail), close, answer.settlement.headers())


async def _first(frames: AsyncGenerator[bytes]) -> bytes:
    return await anext(frames)


async def _ended(first: bytes, frames: AsyncGenerator[bytes], fail: Fail) -> AsyncGenerator[bytes]:
    """All frames, or those before a failure and what tells of it."""
    try:
        async with aclosing(frames):
            yield first
            async for data in frames:
                yield data
    except Exception as error:
        if not isinstance(error, FORESEEN):
            log.exception("A stream failed.")
        yield fail(to_api_error(error))
