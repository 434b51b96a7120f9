"""`/cache`: what the prefix cache holds, whether a prompt would hit, and forgetting it all."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.responses import Response

from headstart.dialects.errors import invalid
from headstart.dialects.openai.prompt_request import parse_prompt
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.explain import miss_fields
from headstart.server.responses import json_response
from headstart.server.tokens import encode_asked
from headstart.stores.tier import TierStats

MOST_NODES = 100_000


async def show(ctx: Context, _: Call) -> Response:
    """Totals over all tenants; hit rates are by tokens, null before the first prompt."""
    stats = ctx.engine.stats()
    cache = stats.cache
    return json_response(
        {
            "block_size": cache.block_size,
            "reuse_unit": cache.reuse_unit,
            "capacity_tokens": cache.capacity_tokens,
            "kv_bytes": stats.kv_bytes,
            "used_tokens": cache.used_tokens,
            "cached_free_tokens": cache.cached_free_tokens,
            "evicted_blocks": cache.evicted_blocks,
            "since_start": _rate(cache.prompt_tokens, cache.hit_tokens),
            "last_minute": _rate(cache.recent_prompt_tokens, cache.recent_hit_tokens),
            "tiers": [_tier(tier, stats.loaded_tokens) for tier in stats.tiers],
            "tier_events": stats.tier_events,
            "verified": asdict(stats.verified),
        }
    )


def _rate(prompt_tokens: int, hit_tokens: int) -> dict[str, float | None]:
    return {
        "prompt_tokens": prompt_tokens,
        "hit_tokens": hit_tokens,
        "hit_rate": hit_tokens / prompt_tokens if prompt_tokens else None,
    }


def _tier(tier: TierStats, loaded: Mapping[str, int]) -> dict[str, Any]:
    return {
        "name": tier.name,
        "state": tier.state,
        "chunks": tier.store.chunks,
        "bytes": tier.store.bytes,
        "capacity_bytes": tier.store.capacity,
        "loaded_tokens": loaded.get(tier.name, 0),
        "events": tier.store.counts,
    }


async def tree(ctx: Context, call: Call) -> Response:
    """The live prefix tree, its largest nodes: the caller's, or all for the operator.

    `?nodes=` bounds the answer, 1,000 unless told. Sizes and ages only, no text.
    """
    asked = call.request.query_params.get("nodes", "1000")
    short = len(asked) <= len(str(MOST_NODES))
    if not (short and asked.isascii() and asked.isdigit() and 0 < int(asked) <= MOST_NODES):
        raise invalid(f"'nodes' has to be a number from 1 to {MOST_NODES}.", "nodes")
    tenant = None if call.caller.operator else call.caller.tenant
    nodes = ctx.engine.cache_tree(tenant, int(asked))
    return json_response({"nodes": [asdict(node) for node in nodes]})


async def reset(ctx: Context, _: Call) -> Response:
    """Forget all KV; running requests finish, and what they computed isn't kept."""
    await asyncio.to_thread(ctx.engine.reset_cache)
    ctx.terms.reset()
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
    question = await offload(body, _question, ctx, body, call.caller.tenant)
    found = ctx.engine.lookup(
        question.ids, tenant=call.caller.tenant, salt=question.salt, adapter=question.adapter
    )
    counts = {"prompt_tokens": found.prompt_tokens, "cached_tokens": found.cached_tokens}
    return json_response(counts | miss_fields(found.miss))


def _question(ctx: Context, body: bytes, tenant: str) -> Question:
    asked = parse_prompt(body, allow_tokens=True)
    return Question(encode_asked(ctx, asked, tenant), ctx.adapter(asked.model), asked.cache_salt)
