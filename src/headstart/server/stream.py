"""From an answer's frames to a response that always ends in a way clients understand."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from headstart.dialects.openai.sse import DONE, frame
from headstart.server.errors import FORESEEN, to_api_error
from headstart.server.generate import Answer
from headstart.server.responses import EventStream

log = logging.getLogger(__name__)


def event_stream(frames: AsyncGenerator[bytes], answer: Answer) -> EventStream:
    """Stream `frames`; cancel `answer` when the client goes."""
    return EventStream(_ended(frames), answer.aclose, answer.account.headers)


async def _ended(frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """`[DONE]` after a whole answer; an error frame, and no `[DONE]`, after half of one."""
    try:
        async with aclosing(frames):
            async for data in frames:
                yield data
    except Exception as error:
        if not isinstance(error, FORESEEN):
            log.exception("A stream failed.")
        yield frame(to_api_error(error).envelope())
    else:
        yield DONE
