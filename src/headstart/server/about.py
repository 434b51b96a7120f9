"""What the server is and how it fares: `/v1/models`, `/health`, `/metrics`."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from headstart.dialects.anthropic import models as anthropic
from headstart.dialects.openai.models import model, model_list
from headstart.server import gemini
from headstart.server.call import Call
from headstart.server.context import Context
from headstart.server.manners import ANTHROPIC, GEMINI, manners_of
from headstart.server.responses import json_response


async def models(ctx: Context, call: Call) -> Response:
    """The base model, its adapters, its other names; in the shape of the client that asks."""
    spoken = manners_of(call.request)
    if spoken is GEMINI:
        return await gemini.models(ctx, call)
    if spoken is ANTHROPIC:
        query = call.request.query_params
        known = [_anthropic_model(ctx, name) for name in ctx.models]
        return json_response(anthropic.page(known, query, query.getlist("lifecycle[]")))
    return json_response(model_list([_model(ctx, name) for name in ctx.models]))


async def one_model(ctx: Context, call: Call) -> Response:
    """One of them by its id, which may hold slashes. Raises ApiError 404."""
    spoken = manners_of(call.request)
    if spoken is GEMINI:
        return await gemini.one_model(ctx, call)
    name = call.request.path_params["model"]
    ctx.adapter(name)
    shape = _anthropic_model if spoken is ANTHROPIC else _model
    return json_response(shape(ctx, name))


def _model(ctx: Context, name: str) -> dict[str, object]:
    profile = ctx.terms.of(name, "engine").profile
    return model(name, ctx.created, profile, None if name == ctx.model else ctx.model)


def _anthropic_model(ctx: Context, name: str) -> dict[str, object]:
    return anthropic.model(name, ctx.created, ctx.engine.context_length)


async def health(ctx: Context, _: Call) -> Response:
    """200 only while requests can be served."""
    ready = ctx.engine.ready
    return json_response(
        {"status": "ready" if ready else "unavailable"}, status=200 if ready else 503
    )


async def metrics(ctx: Context, call: Call) -> Response:
    """Everything for Prometheus, storage up to now."""
    ctx.contents.bill(call.began)
    return Response(generate_latest(ctx.metrics.registry), media_type=CONTENT_TYPE_LATEST)
