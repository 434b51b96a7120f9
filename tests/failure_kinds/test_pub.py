"""PUB: visible before valid, with real KV. There is no copy to race here but the step itself."""

import asyncio
import random

import pytest
from tests.engine.drive import Outcome, answer, request, until_idle
from tests.failure_kinds.drive import StepGate, cold_answers, on_engine, prompt_of

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel


def ids(outcomes: list[Outcome]) -> list[tuple[int, ...]]:
    return [outcome.ids for outcome in outcomes]


def test_pub_01_what_64_overlapping_requests_published_answers_like_cold(tiny: LoadedModel) -> None:
    """Blocks are published behind the step that wrote them; a replay reads every one of them."""
    trunk = prompt_of(64)
    prompts = [[*trunk[: 15 * (n % 5)], *prompt_of(40, seed=n % 16)] for n in range(64)]
    cold = cold_answers(tiny, prompts, max_tokens=4)

    async def test(engine: LocalEngine) -> None:
        async def run() -> list[Outcome]:
            asked = [answer(engine, prompt, max_tokens=4) for prompt in prompts]
            return await asyncio.gather(*asked)

        assert ids(await run()) == ids(cold)
        replay = await run()
        assert ids(replay) == ids(cold)
        for prompt, outcome in zip(prompts, replay, strict=True):
            assert outcome.reuse.cached_tokens == len(prompt) - 1

    on_engine(tiny, test, blocks=512, max_batch_tokens=100)


def test_pub_03_of_200_requests_of_two_tenants_in_a_small_pool_none_reads_anothers_kv(
    tiny: LoadedModel,
) -> None:
    """The markers are all the words: each answer is just what its own prompt is answered alone."""
    prompts = {
        (tenant, n): prompt_of(50 + n, seed=seed)
        for seed, tenant in enumerate(("a", "b"))
        for n in range(10)
    }
    cold = dict(zip(prompts, cold_answers(tiny, list(prompts.values()), max_tokens=3), strict=True))
    assert len({outcome.ids for outcome in cold.values()}) > 15, "most answers tell who was asked"

    async def test(engine: LocalEngine) -> None:
        draw = random.Random(0)
        order = [draw.choice(list(prompts)) for _ in range(200)]
        for first in range(0, 200, 8):
            group = order[first : first + 8]
            outcomes = await asyncio.gather(
                *(answer(engine, prompts[key], tenant=key[0], max_tokens=3) for key in group)
            )
            assert ids(outcomes) == [cold[key].ids for key in group]
        stats = engine.stats()
        assert stats.cache.evicted_blocks > 20, "slots have changed hands"
        assert stats.cache.hit_tokens > 0, "and some have been reused"

    on_engine(tiny, test, blocks=40)


@pytest.mark.parametrize("refill", [False, True])
def test_pub_06_a_prompt_cancelled_in_mid_prefill_answers_like_cold_the_next_time(
    tiny: LoadedModel, refill: bool
) -> None:
    """Six chunks of 32; the client leaves while the fourth is computed."""
    prompt = prompt_of(192)
    (cold,) = cold_answers(tiny, [prompt])

    async def test(engine: LocalEngine) -> None:
        gate = StepGate(engine, hold_at=4)
        leaving = engine.submit(request(prompt))
        await gate.held()
        await leaving.aclose()
        gate.open()
        await until_idle(engine)
        engine.audit()
        found = engine.lookup(prompt, tenant="", salt=None, adapter=None).cached_tokens
        # What four steps computed is there, with its KV; of the other two chunks nothing is.
        assert found == 4 * 32
        if refill:
            await asyncio.gather(*(answer(engine, prompt_of(100, seed)) for seed in range(3)))
            found = engine.lookup(prompt, tenant="", salt=None, adapter=None).cached_tokens
            assert found < 4 * 32
        again = await answer(engine, prompt)
        assert (again.reuse.cached_tokens, again.ids) == (found, cold.ids)

    on_engine(tiny, test, blocks=20, max_batch_tokens=32)


@pytest.mark.parametrize("block_size", [1, 16])
def test_pub_08_of_two_in_one_step_neither_reads_what_the_other_has_yet_to_compute(
    tiny: LoadedModel, block_size: int
) -> None:
    """Both are in the queue before the engine sees either."""
    shared = prompt_of(48)
    prompts = [[*shared, 5], [*shared, 6]]
    cold = cold_answers(tiny, prompts)

    async def test(engine: LocalEngine) -> None:
        gate = StepGate(engine, hold_at=1)
        blocker = asyncio.create_task(answer(engine, prompt_of(9)))
        await gate.held()
        both = [asyncio.create_task(answer(engine, prompt)) for prompt in prompts]
        while engine.stats().waiting < 2:
            await asyncio.sleep(0.001)
        gate.open()
        await blocker
        outcomes = await asyncio.gather(*both)
        assert ids(outcomes) == ids(cold)
        # The second waited a step, and its credit is what was computed once: 48 tokens.
        assert [outcome.reuse.cached_tokens for outcome in outcomes] == [0, 48]
        assert engine.stats().prefill_tokens == 9 + 49 + 1

    on_engine(tiny, test, block_size=block_size, blocks=512 // block_size)


def test_pub_12_blocks_of_a_request_that_left_are_not_given_away_while_a_step_writes_them(
    tiny: LoadedModel,
) -> None:
    prompt, other = prompt_of(100), prompt_of(100, seed=1)
    (cold,) = cold_answers(tiny, [other])

    async def test(engine: LocalEngine) -> None:
        gate = StepGate(engine, hold_at=1)
        leaving = engine.submit(request(prompt))
        await gate.held()
        await leaving.aclose()
        arriving = asyncio.create_task(answer(engine, other))
        await asyncio.sleep(0.05)
        stats = engine.stats()
        assert (stats.running, stats.waiting) == (1, 1), "there is room for one of them only"
        assert stats.cache.used_tokens == 7 * 16
        gate.open()
        assert (await arriving).ids == cold.ids

    on_engine(tiny, test, blocks=8)
