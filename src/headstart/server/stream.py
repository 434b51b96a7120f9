"""From an answer's frames to a response that always ends in a way clients understand."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from headstart.dialects.errors import ApiError
from headstart.server.errors import FORESEEN, to_api_error
from headstart.server.generate import Answer
from headstart.server.responses import EventStream

log = logging.getLogger(__name__)

Fail = Callable[[ApiError], bytes]
"""The frame that ends a failed stream."""


def event_stream(frames: AsyncGenerator[bytes], answer: Answer, fail: Fail) -> EventStream:
    """Stream `frames`; cancel `answer` when the client goes."""
    return EventStream(_ended(frames, fail), answer.aclose, answer.settlement.headers)


async def _ended(frames: AsyncGenerator[bytes], fail: Fail) -> AsyncGenerator[bytes]:
    """All frames, or those before a failure and what tells of it."""
    try:
        async with aclosing(frames):
            async for data in frames:
                yield data
    except Exception as error:
        if not isinstance(error, FORESEEN):
            log.exception("A stream failed.")
        yield fail(to_api_error(error))
