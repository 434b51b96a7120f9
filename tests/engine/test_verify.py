"""`--verify-hits`: a sample of hits is computed again, and wrong KV is noticed."""

import asyncio
import os
import random
from collections.abc import Sequence

import pytest
from tests.engine.drive import DEADLINE, answer, assert_idle, running, until_idle
from torch import Tensor

from headstart.engine.api import Verified
from headstart.engine.core import LocalEngine
from headstart.model.kv import kv_bytes_per_token
from headstart.model.load import LoadedModel
from headstart.model.runner import Runner, Slice

BLOCK = 16
TURNS = 6


def prompt_of(tokens: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(3, 380) for _ in range(tokens)]


async def proved(engine: LocalEngine, hits: int) -> Verified:
    """Wait until so many hits are proved and nothing is held for it."""
    async with asyncio.timeout(DEADLINE):
        while (stats := engine.stats()).verified.hits < hits or stats.cache.used_tokens:
            await asyncio.sleep(0.01)
    return stats.verified


@pytest.mark.parametrize("deterministic", [False, True])
def test_every_hit_is_computed_again_and_found_right(
    tiny: LoadedModel, deterministic: bool
) -> None:
    async def main() -> None:
        async with running(
            tiny, kv_memory_bytes=1 << 22, verify_hits=1.0, deterministic=deterministic
        ) as engine:
            prompt = prompt_of(300, seed=1)
            for extra in (5, 9):
                await answer(engine, [*prompt, *prompt_of(extra, seed=extra)], max_tokens=2)
            verified = await proved(engine, 1)
            # Deterministic mode reuses whole chunks of 256.
            assert (verified.hits, verified.tokens) == (1, 256 if deterministic else 300)
            assert verified.wrong == 0
            assert verified.worst_error < (1e-12 if deterministic else 1e-4)
            assert_idle(engine)

    asyncio.run(main())


def test_kv_of_other_tokens_is_noticed(tiny: LoadedModel) -> None:
    async def main() -> None:
        async with running(tiny, kv_memory_bytes=1 << 22, verify_hits=1.0) as engine:
            prompt = prompt_of(100, seed=2)
            await answer(engine, prompt, max_tokens=1)
            pool = engine._runner.pool
            pool._data[:, :, :, 16:32] = pool._data[:, :, :, 48:64]
            await answer(engine, [*prompt, 7], max_tokens=1)
            assert (await proved(engine, 1)).wrong == 1

    asyncio.run(main())


def test_a_proof_that_fails_to_run_ends_nothing_and_holds_nothing(tiny: LoadedModel) -> None:
    class Failing(Runner):
        def run(self, slices: Sequence[Slice]) -> Tensor:
            raise MemoryError("no room to compute it again")

    async def main() -> None:
        async with running(tiny, kv_memory_bytes=1 << 22, verify_hits=1.0) as engine:
            assert engine._verifier is not None
            engine._verifier._runner = Failing(engine._runner.decoder, engine._runner.pool)
            for _ in range(3):
                await answer(engine, prompt_of(100, seed=2), max_tokens=1)
            assert await proved(engine, 0) == Verified()
            assert engine.ready

    asyncio.run(main())


def test_a_share_of_the_hits_is_proved_and_nothing_is_kept_for_it(tiny: LoadedModel) -> None:
    async def main() -> None:
        async with running(tiny, kv_memory_bytes=1 << 22, verify_hits=0.25) as engine:
            prompt = prompt_of(64, seed=3)
            for _ in range(9):
                await answer(engine, prompt, max_tokens=1)
            await proved(engine, 2)
            assert_idle(engine)

    asyncio.run(main())


async def soak(tiny: LoadedModel, requests: int, *, seed: int) -> None:
    """Conversations of three tenants on a pool of 5 % of all they say, a sample of hits proved."""
    rng = random.Random(seed)
    talks = [
        (rng.choice(["acme", "globex", "initech"]), prompt_of(rng.randint(20, 60), seed=number))
        for number in range(max(8, requests // TURNS))
    ]
    footprint = sum(len(start) + TURNS * 24 for _, start in talks)
    blocks = max(40, footprint // 20 // BLOCK)
    memory = blocks * BLOCK * kv_bytes_per_token(tiny.config, tiny.weights.embed.dtype)
    hit = asked = 0
    async with running(tiny, kv_memory_bytes=memory, verify_hits=0.01) as engine:
        slots = asyncio.Semaphore(8)

        async def turn(number: int) -> None:
            nonlocal hit, asked
            tenant, tokens = talks[number]
            async with slots:
                outcome = await answer(
                    engine, tokens[:], max_tokens=8, tenant=tenant, ignore_eos=True
                )
            prompt_tokens, cached = outcome.account
            asked, hit = asked + prompt_tokens, hit + cached
            tokens += [*outcome.ids, *prompt_of(16, seed=len(tokens) * 7919 + number)]
            if len(tokens) > 200:
                talks[number] = tenant, prompt_of(rng.randint(20, 60), seed=rng.randrange(10**9))

        done = 0
        while done < requests:
            # The same few go on for a while, so that there is something to reuse.
            group = rng.sample(range(len(talks)), 6)
            for _ in range(TURNS):
                async with asyncio.TaskGroup() as tasks:
                    for number in group:
                        tasks.create_task(turn(number))
                done += len(group)
            engine.audit()
        await until_idle(engine)
        await proved(engine, 1)
        check(engine, requests=done, asked=asked, hit=hit)


def check(engine: LocalEngine, *, requests: int, asked: int, hit: int) -> None:
    """No block is lost, and all counts say what the clients were told."""
    assert_idle(engine)
    stats = engine.stats()
    assert sum(stats.requests_finished.values()) == stats.requests_finished["length"] == requests
    assert (stats.cache.prompt_tokens, stats.cache.hit_tokens) == (asked, hit)
    assert stats.prefill_tokens - stats.recomputed_tokens >= asked - hit
    assert stats.cache.evicted_blocks > 0
    assert hit > asked // 4
    assert stats.verified.hits > requests // 400
    assert stats.verified.wrong == 0


@pytest.mark.slow
def test_a_soak_of_mixed_tenants_leaks_nothing_and_counts_right(tiny: LoadedModel) -> None:
    """`HEADSTART_SOAK=10000` makes it long."""
    asyncio.run(soak(tiny, int(os.environ.get("HEADSTART_SOAK", "600")), seed=4))
