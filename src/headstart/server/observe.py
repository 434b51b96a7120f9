"""Around every request: an id to quote, and a count by how it ended."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headstart.server.metrics import Metrics
from headstart.server.request_id import identify

ENDPOINTS = frozenset(
    {
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/cachedContents",
        "/v1/responses",
        "/v1/responses/input_tokens",
        "/chat/completions",
        "/models",
        "/v1/models",
        "/v1beta/cachedContents",
        "/v1beta/models",
        "/tokenize",
        "/detokenize",
        "/cache",
        "/cache/lookup",
        "/cache/pin",
        "/cache/tree",
        "/cache/warm",
        "/cache/reset",
        "/metrics",
        "/health",
    }
)


METHODS = ("generateContent", "streamGenerateContent", "countTokens")
"""What Gemini's clients ask of a model, behind its name."""


class Observe:
    """ASGI middleware. It never looks into bodies, so streams pass through untouched."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        endpoint = endpoint_of(scope["path"])
        headers = [(name.encode(), value.encode()) for name, value in identify(scope).items()]

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
                self.metrics.requests.labels(endpoint, str(message["status"])).inc()
            await send(message)

        await self.app(scope, receive, observed)


def endpoint_of(path: str) -> str:
    """A label of few values: names of models and other things are no part of it."""
    if path in ENDPOINTS:
        return path
    version, _, rest = path.removeprefix("/").partition("/")
    _, _, method = rest.rpartition(":")
    if version in ("v1", "v1beta") and rest.startswith("models/") and method in METHODS:
        return f"/{version}/models:{method}"
    return "other"
