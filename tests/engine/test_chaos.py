"""Requests that come, share, get squeezed out and are cancelled at any moment: seeded, audited."""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import pytest
from tests.engine.drive import DEADLINE, answer, assert_idle, request, running, until_idle

from headstart.engine.core import LocalEngine
from headstart.model.kv import kv_bytes_per_token
from headstart.model.load import LoadedModel

BLOCK = 16
POOL_BLOCKS = 16
REQUESTS = 320
DISTINCT = 80
AT_ONCE = 24
"""Several times what the pool holds."""

NEAR_TIE = 1e-4
"""Logits closer than this may change places in another batch; fp32 noise is below 1e-5 here."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A prompt and how much is to follow."""

    prompt: tuple[int, ...]
    max_tokens: int


@pytest.fixture(scope="module")
def asks() -> list[Ask]:
    """Two thirds share one of four beginnings, some end in the middle of one."""
    rng = random.Random(2)
    stems = [[rng.randrange(3, 380) for _ in range(80)] for _ in range(4)]
    made = []
    for _ in range(DISTINCT):
        stem = rng.choice(stems)[: rng.randrange(81)] if rng.random() < 2 / 3 else []
        tail = [rng.randrange(3, 380) for _ in range(rng.randint(1, 20))]
        max_tokens = rng.choice([rng.randint(1, 12), rng.randint(30, 60)])
        made.append(Ask(tuple(stem + tail), max_tokens))
    return made


@pytest.fixture(scope="module")
def told(tiny: LoadedModel, asks: list[Ask]) -> list[tuple[int, ...]]:
    return asyncio.run(told_alone(tiny, asks))


async def told_alone(loaded: LoadedModel, asks: list[Ask]) -> list[tuple[int, ...]]:
    """The answers of an engine that caches nothing and is asked one thing at a time.

    Cut before the first near tie, which company may decide otherwise.
    """
    told = []
    async with running(loaded, kv_memory_bytes=1 << 20, prefix_cache=False) as engine:
        for ask in asks:
            outcome = await answer(engine, ask.prompt, max_tokens=ask.max_tokens, ignore_eos=True)
            ties = [at for at, margin in enumerate(outcome.margins) if margin < NEAR_TIE]
            told.append(outcome.ids[: min(ties, default=len(outcome.ids))])
    whole = sum(len(ids) == ask.max_tokens for ids, ask in zip(told, asks, strict=True))
    assert whole >= 0.97 * len(asks), "this model's answers say too little"
    return told


async def client(engine: LocalEngine, ask: Ask, rng: random.Random) -> list[int]:
    """What one client got to read: everything, or what came before it lost patience."""
    got: list[int] = []
    generation = engine.submit(request(ask.prompt, max_tokens=ask.max_tokens, ignore_eos=True))

    async def read(most: int) -> None:
        async for chunk in generation:
            got.extend(token.token_id for token in chunk.logprobs)
            if len(got) == most:
                return

    match rng.choice(["stay", "stay", "stay", "leave", "be cut off"]):
        case "stay":
            await read(-1)
            assert len(got) == ask.max_tokens
            reuse = generation.reuse
            assert 0 <= reuse.cached_tokens < reuse.prompt_tokens == len(ask.prompt)
        case "leave":
            await read(rng.randint(1, 20))
        case "be cut off":
            reader = asyncio.create_task(read(-1))
            for _ in range(rng.choice([0, 1, rng.randrange(300)])):
                await asyncio.sleep(0)
            await generation.aclose()
            await reader
    await generation.aclose()
    return got


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "settings"),
    [(1, {}), (2, {"deterministic": True}), (3, {"max_batch_tokens": 20, "max_running": 12})],
    ids=["as served", "deterministic", "narrow"],
)
def test_life_02_requests_cancelled_at_any_moment_leave_right_answers_and_no_block(
    tiny: LoadedModel,
    asks: list[Ask],
    told: list[tuple[int, ...]],
    seed: int,
    settings: dict[str, Any],
) -> None:
    rng = random.Random(seed)
    pool = POOL_BLOCKS * BLOCK * kv_bytes_per_token(tiny.config, tiny.weights.embed.dtype)

    async def main() -> None:
        async with running(tiny, kv_memory_bytes=pool, **settings) as engine:
            slots = asyncio.Semaphore(AT_ONCE)

            async def one(number: int) -> None:
                async with slots:
                    got = await client(engine, asks[number], rng)
                    engine.audit()
                    common = min(len(got), len(told[number]))
                    assert tuple(got[:common]) == told[number][:common], asks[number]
                    if rng.random() < 0.02:
                        engine.reset_cache()
                        engine.audit()

            async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
                for _ in range(REQUESTS):
                    group.create_task(one(rng.randrange(DISTINCT)))
            await until_idle(engine)
            assert_idle(engine)
            stats = engine.stats()
            assert stats.cache.capacity_tokens == POOL_BLOCKS * BLOCK
            assert sum(stats.requests_finished.values()) == REQUESTS
            assert stats.requests_finished["abort"] > REQUESTS // 10
            assert stats.requests_finished["length"] > REQUESTS // 3
            assert stats.preemptions > 0
            # Deterministic chunks are longer than these prompts: nothing is kept to hit or evict.
            assert (stats.cache.evicted_blocks > 0) == ("deterministic" not in settings)
            assert (stats.cache.hit_tokens > 0) == ("deterministic" not in settings)

    asyncio.run(main())
