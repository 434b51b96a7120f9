"""Responses: JSON, and event streams that end when the client does."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headstart.server.disconnect import ClientGone, while_connected


def json_response(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`value` as JSON."""
    body = msgspec.json.encode(value)
    return Response(body, status, headers, media_type="application/json")


class EventStream(Response):
    """Sends frames as they come; however it ends, `close` runs, at once when the client goes.

    `close` is apart from `frames` because a generator that was never begun can't clean up.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        close: Callable[[], Awaitable[None]],
        headers: Mapping[str, str],
    ) -> None:
        self.status_code = 200
        self.background = None
        self.frames = frames
        self.close = close
        self.init_headers({"cache-control": "no-cache", "x-accel-buffering": "no", **headers})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send it all, or until the client goes."""
        try:
            with suppress(ClientGone):
                await while_connected(receive, self._send(send))
        finally:
            await self.close()

    async def _send(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        async for frame in self.frames:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
