"""`cachedContents`: prompts that are computed now and held until a time."""

from contextlib import suppress

from starlette.responses import Response

from headstart.contracts.contract import Refusal
from headstart.contracts.prompt import Prompt, Wishes
from headstart.dialects.gemini.cached import (
    Create,
    parse_create,
    parse_patch,
    resource,
    resource_list,
    told,
)
from headstart.dialects.gemini.models import page_size
from headstart.dialects.gemini.prompt import read_prompt
from headstart.engine.api import GenerateRequest
from headstart.model.params import SamplingParams
from headstart.server.beginning import beginning
from headstart.server.call import Call
from headstart.server.contents import Body, Content
from headstart.server.context import Context, offload
from headstart.server.disconnect import while_connected
from headstart.server.gemini import unknown_model
from headstart.server.generate import Answer, submit
from headstart.server.logged import Sent
from headstart.server.responses import json_response
from headstart.server.settlement import Asked, Settlement, Source


async def create(ctx: Context, call: Call) -> Response:
    """Compute a prompt's beginning, hold its KV to its end, and give it a name."""
    raw = await call.body(ctx.settings.max_body_bytes)
    owner = call.caller.tenant
    asked, body = await offload(raw, _prepare, ctx, raw, owner)
    minimum = ctx.terms.of(asked.model, "gemini").profile.explicit_minimum
    if asked.model not in ctx.models or minimum is None:
        raise unknown_model(asked.model, call, "createCachedContent")
    name = f"cachedContents/{call.id}"
    content = ctx.contents.create(name, asked, body, owner=owner, minimum=minimum, now=call.began)
    try:
        sent = ctx.sent(call, raw, lambda _: told(content))
        headers = await while_connected(call.receive, _compute(ctx, call, content, sent))
        ctx.contents.ready(content, ctx.now())
    except BaseException:
        with suppress(Refusal):
            ctx.contents.delete(name, owner=owner, now=ctx.now())
        raise
    return json_response(resource(content), headers=headers)


def _prepare(ctx: Context, raw: bytes, tenant: str) -> tuple[Create, Body]:
    asked = parse_create(raw)
    prompt = read_prompt(asked.prompt, asked.model)
    ids = beginning(ctx.codec, prompt.conversation, tenant)
    adapter = asked.model if asked.model in ctx.engine.adapters else None
    return asked, Body(asked.prompt, ids, adapter)


async def _compute(ctx: Context, call: Call, content: Content, sent: Sent | None) -> dict[str, str]:
    """Have its KV in the cache. What came of it, for the headers."""
    model = content.model.removeprefix("models/")
    terms = ctx.terms.of(model, "gemini")
    generate = GenerateRequest(
        id=call.id,
        prompt=content.body.ids,
        params=SamplingParams(max_tokens=0),
        tenant=content.owner,
        adapter=content.body.adapter,
    )
    made = Wishes(content=content.name, content_seconds=ctx.contents.seconds(content, ctx.now()))
    prompt = Prompt(content.owner, model, (), content.body.ids, wishes=made)
    plan = terms.contract.plan(prompt, terms.entries, call.began)
    settlement = Settlement(
        source=Source(call.id, model, "gemini.cachedContents", call.caller, call.began),
        asked=[Asked(generate, prompt, plan)],
        terms=terms,
        engine=ctx.engine,
        reports=ctx.reports,
        metrics=ctx.metrics,
        books=ctx.books,
        warms=True,
        sent=sent,
    )
    answer = Answer(
        generations=await submit(ctx.engine, [generate]),
        settlement=settlement,
        choices=1,
        metrics=ctx.metrics,
        clock=call.clock,
        arrived=call.arrived,
        now=ctx.now,
        ends=frozenset(),
    )
    try:
        async for _ in answer.chunks():
            pass
    finally:
        await answer.aclose()
    return settlement.headers()


async def list_all(ctx: Context, call: Call) -> Response:
    """The caller's, a page at a time."""
    query = call.request.query_params
    page, token = ctx.contents.listing(
        owner=call.caller.tenant,
        now=call.began,
        size=page_size(query.get("pageSize", "")),
        token=query.get("pageToken"),
    )
    return json_response(resource_list(page, token))


async def get(ctx: Context, call: Call) -> Response:
    """One of them. Raises Refusal 403, as for what was never there."""
    return json_response(
        resource(ctx.contents.get(_name(call), owner=call.caller.tenant, now=call.began))
    )


async def patch(ctx: Context, call: Call) -> Response:
    """Let one end at another time."""
    end = parse_patch(await call.body(ctx.settings.max_body_bytes))
    content = ctx.contents.move(_name(call), end, owner=call.caller.tenant, now=call.began)
    return json_response(resource(content))


async def delete(ctx: Context, call: Call) -> Response:
    """Let one end now."""
    ctx.contents.delete(_name(call), owner=call.caller.tenant, now=call.began)
    return json_response({})


def _name(call: Call) -> str:
    return f"cachedContents/{call.request.path_params['id']}"
