"""`/cache/warm` and `/cache/pin`: prompts computed before they are asked, prefixes kept longer."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from starlette.responses import Response

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.keep_request import KeepRequest, parse_pin, parse_warm
from headstart.dialects.openai.prompt_request import PromptRequest
from headstart.engine.api import GenerateRequest, Generation, Pinned
from headstart.model.params import SamplingParams
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.disconnect import while_connected
from headstart.server.generate import submit
from headstart.server.logged import Logged, Sent
from headstart.server.responses import json_response
from headstart.server.tokens import encode_asked

MOST_DIGITS = 30
"""Of a pin's number; one as long is nobody's."""


@dataclass(frozen=True, slots=True)
class Target:
    """A prompt in the engine's terms, and how long to keep it."""

    ids: list[int]
    adapter: str | None
    salt: str | None
    ttl: float | None
    priority: int


async def warm(ctx: Context, call: Call) -> Response:
    """Compute prompts now, so that the first to ask finds them; with `ttl`, pin them too."""
    body, targets = await _targets(ctx, call, parse_warm)
    requests = [
        GenerateRequest(
            id=f"warm-{call.id}-{index}",
            prompt=target.ids,
            params=SamplingParams(max_tokens=0),
            tenant=call.caller.tenant,
            salt=target.salt,
            adapter=target.adapter,
        )
        for index, target in enumerate(targets)
    ]
    generations = await submit(ctx.engine, requests)
    try:
        return await while_connected(call.receive, _warmed(ctx, call, targets, generations))
    finally:
        for generation in generations:
            await generation.aclose()
        if (sent := ctx.sent(call, body, lambda _: {})) is not None:
            _log(ctx, call, sent, requests, generations)


async def _warmed(
    ctx: Context, call: Call, targets: Sequence[Target], generations: Sequence[Generation]
) -> Response:
    prompts = []
    for target, generation in zip(targets, generations, strict=True):
        async for _ in generation:
            pass
        pinned = None if target.ttl is None else _pin(ctx, call, target, target.ttl)
        prompts.append(
            {
                "prompt_tokens": generation.reuse.prompt_tokens,
                "cached_tokens": generation.reuse.cached_tokens,
                "pin": None if pinned is None else asdict(pinned),
            }
        )
    return json_response({"prompts": prompts})


def _log(
    ctx: Context,
    call: Call,
    sent: Sent,
    requests: Sequence[GenerateRequest],
    generations: Sequence[Generation],
) -> None:
    computed = [
        pair for pair in zip(requests, generations, strict=True) if pair[1].reuse.miss is not None
    ]
    for part, (request, generation) in enumerate(computed):
        cached = generation.reuse.cached_tokens
        logged = Logged(f"warm-{call.id}", call.began, part, request, cached, (), "length", sent)
        ctx.books.log_prompt(logged)


async def pin(ctx: Context, call: Call) -> Response:
    """Keep what is cached of a prompt. 404 if that is nothing."""
    _, (target,) = await _targets(ctx, call, parse_pin)
    assert target.ttl is not None
    pinned = _pin(ctx, call, target, target.ttl)
    if pinned is None:
        message = "Nothing of this prompt is cached: compute it first, with POST /cache/warm."
        raise ApiError(404, message, code="not_cached")
    return json_response(asdict(pinned))


async def pins(ctx: Context, call: Call) -> Response:
    """What the caller's tenant has pinned."""
    return json_response({"pins": [asdict(each) for each in ctx.engine.pins(call.caller.tenant)]})


async def unpin(ctx: Context, call: Call) -> Response:
    """Let a pin go: what it kept is cached like anything else."""
    number = call.request.path_params["number"][:MOST_DIGITS]
    if not number.isdecimal() or not ctx.engine.unpin(call.caller.tenant, int(number)):
        raise ApiError(404, f"There is no pin {number}; it may have run out.", code="no_such_pin")
    return json_response({"id": int(number), "deleted": True})


def _pin(ctx: Context, call: Call, target: Target, ttl: float) -> Pinned | None:
    return ctx.engine.pin(
        target.ids,
        tenant=call.caller.tenant,
        salt=target.salt,
        adapter=target.adapter,
        ttl=ttl,
        priority=target.priority,
    )


async def _targets(
    ctx: Context, call: Call, parse: Callable[[bytes], KeepRequest]
) -> tuple[bytes, list[Target]]:
    body = await call.body(ctx.settings.max_body_bytes)
    return body, await offload(body, _prepare, ctx, body, call.caller.tenant, parse)


def _prepare(
    ctx: Context, body: bytes, tenant: str, parse: Callable[[bytes], KeepRequest]
) -> list[Target]:
    asked = parse(body)
    targets = []
    for index, prompt in enumerate(asked.prompts):
        try:
            targets.append(_target(ctx, tenant, asked, prompt))
        except ApiError as error:
            raise error if asked.alone else _within(error, f"prompts[{index}]") from None
    return targets


def _within(error: ApiError, where: str) -> ApiError:
    param = f"{where}.{error.param}" if error.param else where
    return replace(error, message=f"In '{where}': {error.message}", param=param)


def _target(ctx: Context, tenant: str, asked: KeepRequest, prompt: PromptRequest) -> Target:
    return Target(
        encode_asked(ctx, prompt, tenant),
        ctx.adapter(prompt.model),
        prompt.cache_salt,
        asked.ttl,
        asked.priority,
    )
