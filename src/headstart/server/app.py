"""The ASGI application: which path leads where, and who may walk it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.engine.api import Engine
from headstart.ledger import Rules, Store
from headstart.ledger.store import INTERVAL_SECONDS
from headstart.server import (
    about,
    cache,
    cached_contents,
    gemini,
    keep,
    respond,
    stored,
    stored_chats,
    tokens,
)
from headstart.server.auth import ANYONE, Caller, credential, load_keyring
from headstart.server.books import Books
from headstart.server.call import Call
from headstart.server.chat import chat
from headstart.server.compared import Compared
from headstart.server.complete import complete
from headstart.server.completions import completions
from headstart.server.contents import Contents
from headstart.server.context import Context
from headstart.server.count import count_tokens
from headstart.server.errors import answer_error, on_http_exception
from headstart.server.explain import explain
from headstart.server.kept import AllKept
from headstart.server.line_log import LineLog
from headstart.server.manners import manners_of
from headstart.server.metrics import Metrics
from headstart.server.observe import Observe
from headstart.server.reports import Reports
from headstart.server.request_id import request_id_of
from headstart.server.snapshot import snapshot
from headstart.server.terms import AllTerms
from headstart.server.usage import usage
from headstart.settings import Settings
from headstart.text.codec import Codec

Endpoint = Callable[[Context, Call], Awaitable[Response]]
GEMINI: Sequence[tuple[str, str, Endpoint]] = (
    ("models/{model:path}:generateContent", "POST", gemini.generate_content),
    ("models/{model:path}:streamGenerateContent", "POST", gemini.stream_generate_content),
    ("models/{model:path}:countTokens", "POST", gemini.count_tokens),
    ("cachedContents", "POST", cached_contents.create),
    ("cachedContents", "GET", cached_contents.list_all),
    ("cachedContents/{id}", "GET", cached_contents.get),
    ("cachedContents/{id}", "PATCH", cached_contents.patch),
    ("cachedContents/{id}", "DELETE", cached_contents.delete),
)
"""Below each of Google's versions, which are alike here."""
Gate = Callable[[str | None], Caller]
"""From the `Authorization` header to the caller. Raises ApiError."""


class App(Starlette):
    """One server's endpoints."""

    def __init__(self, ctx: Context, routes: Sequence[Route]) -> None:
        super().__init__(
            routes=routes,
            middleware=[Middleware(Observe, metrics=ctx.metrics)],
            exception_handlers={HTTPException: on_http_exception},
        )
        self._ctx = ctx

    def bill(self) -> None:
        """Write down what costs by the hour, up to now."""
        self._ctx.contents.bill(self._ctx.now())

    async def keep_billing(self) -> None:
        """Do so until cancelled, so that a crash loses no more of it than of requests."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            for _ in self._ctx.contents.bill_by_pieces(self._ctx.now()):
                await asyncio.sleep(0)


def create_app(
    engine: Engine,
    codec: Codec,
    settings: Settings,
    *,
    store: Store | None = None,
    log: LineLog | None = None,
    now: Callable[[], float] = time.time,
) -> App:
    """Wire one server. `store`: of the ledger; `log`: of requests; `now`: the contracts' clock.

    Raises KeysFileError.
    """
    keyring = load_keyring(settings)
    metrics = Metrics(engine)
    model = settings.served_model_name or settings.model
    books = Books(store, metrics, log)
    terms = AllTerms(model, settings.aliases, Rules.packaged())
    ctx = Context(
        engine=engine,
        codec=codec,
        settings=settings,
        keyring=keyring,
        metrics=metrics,
        reports=Reports(),
        kept=AllKept(),
        model=model,
        vocab_size=codec.vocab_size,
        created=int(time.time()),
        terms=terms,
        books=books,
        compared=Compared(),
        contents=Contents(engine, terms, books),
        now=now,
    )

    def route(path: str, method: str, endpoint: Endpoint, gate: Gate) -> Route:
        return Route(path, _bind(ctx, endpoint, gate), methods=[method])

    tenant, operator = keyring.authenticate, keyring.operator
    routes = [
        route("/v1/chat/completions", "POST", complete, tenant),
        route("/v1/chat/completions", "GET", stored_chats.list_all, tenant),
        route("/v1/chat/completions/{id}", "GET", stored_chats.retrieve, tenant),
        route("/v1/chat/completions/{id}", "POST", stored_chats.update, tenant),
        route("/v1/chat/completions/{id}", "DELETE", stored_chats.delete, tenant),
        route("/v1/chat/completions/{id}/messages", "GET", stored_chats.messages, tenant),
        route("/chat/completions", "POST", chat(DeepSeekChat()), tenant),
        route("/v1/responses", "POST", respond.respond, tenant),
        route("/v1/responses/input_tokens", "POST", respond.input_tokens, tenant),
        route("/v1/responses/compact", "POST", respond.compact, tenant),
        route("/v1/responses/{response_id}", "GET", stored.retrieve, tenant),
        route("/v1/responses/{response_id}", "DELETE", stored.delete, tenant),
        route("/v1/responses/{response_id}/input_items", "GET", stored.input_items, tenant),
        route("/v1/responses/{response_id}/cancel", "POST", stored.cancel, tenant),
        route("/v1/completions", "POST", completions, tenant),
        route("/v1/messages", "POST", chat(AnthropicMessages()), tenant),
        route("/v1/messages/count_tokens", "POST", count_tokens, tenant),
        route("/v1/models", "GET", about.models, tenant),
        route("/models", "GET", about.models, tenant),
        route("/v1/models/{model:path}", "GET", about.one_model, tenant),
        route("/v1beta/models", "GET", about.models, tenant),
        route("/v1beta/models/{model:path}", "GET", about.one_model, tenant),
        route("/v1/usage", "GET", usage, tenant),
        route("/tokenize", "POST", tokens.tokenize, tenant),
        route("/detokenize", "POST", tokens.detokenize, tenant),
        route("/cache/lookup", "POST", cache.lookup, tenant),
        route("/cache/explain/{request_id}", "GET", explain, tenant),
        route("/cache/tree", "GET", cache.tree, tenant),
        route("/cache/warm", "POST", keep.warm, tenant),
        route("/cache/pin", "POST", keep.pin, tenant),
        route("/cache/pin", "GET", keep.pins, tenant),
        route("/cache/pin/{number}", "DELETE", keep.unpin, tenant),
        route("/cache", "GET", cache.show, operator),
        route("/cache/reset", "POST", cache.reset, operator),
        route("/kv/snapshot", "GET", snapshot, operator),
        route("/metrics", "GET", about.metrics, operator),
        route("/health", "GET", about.health, _open),
    ]
    for version in ("v1", "v1beta"):
        routes += [
            route(f"/{version}/{path}", method, endpoint, tenant)
            for path, method, endpoint in GEMINI
        ]
    return App(ctx, routes)


def _open(_: str | None) -> Caller:
    """Nothing a load balancer would have a key for."""
    return ANYONE


def _bind(ctx: Context, endpoint: Endpoint, gate: Gate) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        arrived = time.perf_counter()
        request_id = request_id_of(request)
        try:
            caller = gate(credential(request))
            call = Call(request, caller, request_id, arrived, time.perf_counter, ctx.now())
            return await endpoint(ctx, call)
        except Exception as error:
            return answer_error(error, manners_of(request), request_id)

    return answer
