"""Stands in front of the application while the model is loading."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from headstart.dialects.errors import ApiError
from headstart.server.errors import error_response
from headstart.server.manners import manners_of
from headstart.server.request_id import identify, request_id_of

LOADING = ApiError(
    503,
    "The model is still loading; try again in a moment.",
    type="server_error",
    code="server_loading",
    retry_after=1,
)


class Gate:
    """Answers everything, `/health` too, with 503 until it is opened."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None

    def open(self, app: ASGIApp) -> None:
        """From here on `app` answers."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or turn it away."""
        if self._app is not None:
            await self._app(scope, receive, send)
            return
        headers, request = identify(scope), Request(scope)
        loading = error_response(LOADING, manners_of(request), request_id_of(request))
        loading.headers.update(headers)
        await loading(scope, receive, send)
