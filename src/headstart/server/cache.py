"""`/cache`: what the prefix cache holds, whether a prompt would hit, and forgetting it all."""

from dataclasses import dataclass

from starlette.responses import Response

from headstart.dialects.openai.prompt_request import parse_prompt
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.responses import json_response
from headstart.server.tokens import encode_asked


async def show(ctx: Context, _: Call) -> Response:
    """Totals over all tenants; hit rates are by tokens, null before the first prompt."""
    cache = ctx.engine.stats().cache
    return json_response(
        {
            "block_size": cache.block_size,
            "capacity_tokens": cache.capacity_tokens,
            "used_tokens": cache.used_tokens,
            "cached_free_tokens": cache.cached_free_tokens,
            "evicted_blocks": cache.evicted_blocks,
            "since_start": _rate(cache.prompt_tokens, cache.hit_tokens),
            "last_minute": _rate(cache.recent_prompt_tokens, cache.recent_hit_tokens),
        }
    )


def _rate(prompt_tokens: int, hit_tokens: int) -> dict[str, float | None]:
    return {
        "prompt_tokens": prompt_tokens,
        "hit_tokens": hit_tokens,
        "hit_rate": hit_tokens / prompt_tokens if prompt_tokens else None,
    }


async def reset(ctx: Context, _: Call) -> Response:
    """Forget all KV; running requests finish, and what they computed isn't kept."""
    ctx.engine.reset_cache()
    return json_response({"reset": True})


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt whose fate is asked."""

    ids: list[int]
    adapter: str | None
    salt: str | None


async def lookup(ctx: Context, call: Call) -> Response:
    """How much of a prompt would hit now, for this caller; asking changes nothing."""
    body = await call.body(ctx.settings.max_body_bytes)
    question = await offload(body, _question, ctx, body)
    found = ctx.engine.lookup(
        question.ids, tenant=call.caller.tenant, salt=question.salt, adapter=question.adapter
    )
    return json_response(
        {"prompt_tokens": found.prompt_tokens, "cached_tokens": found.cached_tokens}
    )


def _question(ctx: Context, body: bytes) -> Question:
    asked = parse_prompt(body, allow_tokens=True)
    return Question(encode_asked(ctx, asked), ctx.adapter(asked.model), asked.cache_salt)
