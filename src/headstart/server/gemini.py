"""Gemini's endpoints on models."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.count import counted, parse_count
from headstart.dialects.gemini.frames import Events, Frames, JsonArray
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.gemini.models import model, model_list
from headstart.dialects.gemini.request import Found
from headstart.server.call import Call
from headstart.server.chat import answer, prepare
from headstart.server.contents import Content
from headstart.server.context import Context, offload
from headstart.server.prepare import locate
from headstart.server.responses import json_response


async def generate_content(ctx: Context, call: Call) -> Response:
    """`:generateContent`."""
    check_model(ctx, call, "generateContent")
    return await _answer(ctx, call, streaming=False, frames=Events)


async def stream_generate_content(ctx: Context, call: Call) -> Response:
    """`:streamGenerateContent`, as events with `?alt=sse`, else as one JSON array."""
    check_model(ctx, call, "streamGenerateContent")
    if call.request.query_params.get("alt") == "sse":
        return await _answer(ctx, call, streaming=True, frames=Events)
    response = await _answer(ctx, call, streaming=True, frames=JsonArray)
    response.headers["content-type"] = "application/json"
    return response


async def _answer(
    ctx: Context, call: Call, *, streaming: bool, frames: Callable[[], Frames]
) -> Response:
    used: list[Content] = []
    dialect = GeminiGenerate(finder(ctx, call, used), streaming, frames)
    body = await call.body(ctx.settings.max_body_bytes)
    job = await offload(body, prepare, ctx, body, call, dialect)
    kept = [(content.tokens, ctx.contents.seconds(content, call.began)) for content in used]
    return await answer(ctx, call, dialect, replace(job, asked=replace(job.asked, kept=kept)))


async def count_tokens(ctx: Context, call: Call) -> Response:
    """`:countTokens`: what the same prompt would be billed as. Changes nothing."""
    check_model(ctx, call, "countTokens")
    body = await call.body(ctx.settings.max_body_bytes)
    return json_response(await offload(body, _count, ctx, body, call))


def _count(ctx: Context, body: bytes, call: Call) -> dict[str, Any]:
    asked = parse_count(body, call.request.path_params["model"], finder(ctx, call, []))
    prompt = locate(ctx, asked, call.caller.tenant)
    return counted(prompt.tokens, asked.wishes.content_tokens)


def finder(ctx: Context, call: Call, used: list[Content]) -> Callable[[str, str], Found]:
    """Finds the caller's cached contents and notes which were."""

    def find(name: str, asked: str) -> Found:
        content = ctx.contents.use(name, asked, owner=call.caller.tenant, now=call.began)
        used.append(content)
        return Found(content.body.prompt, content.tokens)

    return find


async def models(ctx: Context, call: Call) -> Response:
    """All models, a page at a time."""
    known = [model(name, ctx.engine.context_length) for name in ctx.models]
    query = call.request.query_params
    return json_response(model_list(known, query.get("pageSize", ""), query.get("pageToken", "")))


async def one_model(ctx: Context, call: Call) -> Response:
    """One of them. Raises ApiError 404."""
    check_model(ctx, call, "getModel")
    return json_response(model(call.request.path_params["model"], ctx.engine.context_length))


def check_model(ctx: Context, call: Call, method: str) -> None:
    """Raises ApiError 404 in Google's words if the URL's model isn't served."""
    name = call.request.path_params["model"]
    if name not in ctx.models:
        raise unknown_model(name, call, method)


def unknown_model(name: str, call: Call, method: str) -> ApiError:
    """The model isn't served, or can't do this."""
    version = call.request.url.path.split("/")[1]
    message = (
        f"models/{name} is not found for API version {version}, or is not supported for {method}. "
        "Call ListModels to see the list of available models and their supported methods."
    )
    return ApiError(404, message, param="model", code="model_not_found")
