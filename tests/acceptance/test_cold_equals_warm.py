"""Law 1 on the default model: an answer doesn't depend on what was cached, shared or evicted."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.acceptance.compare import Comparison, Outcome, hold_exactly
from tests.acceptance.prompts import BLOCK, CONTEXT, POOL_TOKENS, STEP, prompts
from tests.engine.drive import DEADLINE, answer, request, running, until_running

from headstart.engine.api import PromptTooLong, TokenLogprob
from headstart.engine.core import LocalEngine
from headstart.model.kv import kv_bytes_per_token
from headstart.model.load import LoadedModel, load_model

pytestmark = pytest.mark.slow

MAX_TOKENS = 2
"""One from a prefill, one from a decoding step, which after kB - 1 and kB tokens fills a block or
begins one."""

CHUNK = 256
"""Deterministic mode's borders; hits are whole chunks."""

ASKED: Mapping[str, Any] = {"max_tokens": MAX_TOKENS, "ignore_eos": True}

GROUP = 5
"""Requests in a batch: three others at least run beside each."""

Hold = Callable[[Outcome, Outcome, str], None]


@pytest.fixture(autouse=True, scope="module")
def both_cores() -> Iterator[None]:
    """As a server has them: how sums are split among threads must change nothing either."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def load(path: Path, dtype: torch.dtype) -> LoadedModel:
    return load_model(str(path), dtype=dtype, device=torch.device("cpu"))


@pytest.fixture(scope="module")
def in_fp32(default_model_path: Path) -> LoadedModel:
    return load(default_model_path, torch.float32)


@pytest.fixture(scope="module")
def in_bf16(default_model_path: Path) -> LoadedModel:
    return load(default_model_path, torch.bfloat16)


def pool(loaded: LoadedModel, tokens: int) -> dict[str, Any]:
    """Settings for a pool of exactly `tokens` tokens, in which it is plain what goes first."""
    bytes_per_token = kv_bytes_per_token(loaded.config, loaded.weights.embed.dtype)
    return {
        "kv_memory_bytes": tokens * bytes_per_token,
        "context_length": CONTEXT,
        "eviction_policy": "lru",
    }


def would_hit(engine: LocalEngine, prompt: Sequence[int]) -> int:
    return engine.lookup(prompt, tenant="", salt=None, adapter=None).cached_tokens


def reusable(prompt: Sequence[int], unit: int) -> int:
    """All whole units of a prompt (of 1: tokens), but its last token is always computed."""
    return (len(prompt) - 1) // unit * unit


def batches(count: int) -> Iterator[range]:
    return (range(at, min(at + GROUP, count)) for at in range(0, count, GROUP))


async def together(
    engine: LocalEngine, prompts: Sequence[Sequence[int]], group: range
) -> tuple[list[tuple[int, Outcome]], int]:
    """Answers to the group's requests, sent at once; and how many of them ran in one step."""
    run, all_sent, most = engine._runner.run, threading.Event(), 0

    def counted(slices: Sequence[Any]) -> Any:
        nonlocal most
        assert all_sent.wait(DEADLINE)
        most = max(most, len(slices))
        return run(slices)

    engine._runner.run = counted  # type: ignore[method-assign]
    try:
        asked = [asyncio.create_task(answer(engine, prompts[n], **ASKED)) for n in group]
        await asyncio.sleep(0)  # Each task has begun.
        all_sent.set()
        outcomes = await asyncio.gather(*asked)
    finally:
        engine._runner.run = run  # type: ignore[method-assign]
    return list(zip(group, outcomes, strict=True)), most


async def evict(
    engine: LocalEngine, prompts: Sequence[Sequence[int]], *, filler: Sequence[int]
) -> None:
    """Use the pool for other things, if need be, until nothing of `prompts` is left in it."""
    for number in range(engine.stats().cache.capacity_tokens // len(filler) + 2):
        if not any(would_hit(engine, prompt) for prompt in prompts):
            return
        await answer(engine, filler, max_tokens=1, salt=f"filler {number}")
    pytest.fail("what was least recently used is still there")


async def hold_four_runs(engine: LocalEngine, loaded: LoadedModel, unit: int, hold: Hold) -> None:
    """Cold, warm, warm in a batch, and after eviction, for every prompt."""
    fifty = prompts(loaded.codec, max_tokens=MAX_TOKENS)
    cold: dict[int, Outcome] = {}
    for group in batches(len(fifty)):
        for number in group:
            cold[number] = await answer(engine, fifty[number], **ASKED)
            # ACCT-16: the control that a hit is a hit. An unseen prompt of equal length is none.
            assert cold[number].reuse.cached_tokens == 0
            assert len(cold[number].ids) == MAX_TOKENS
        for number in group:
            if not reusable(fifty[number], unit):
                continue  # The cold run once more.
            before = engine.stats().prefill_tokens
            warm = await answer(engine, fifty[number], **ASKED)
            assert warm.reuse.cached_tokens == reusable(fifty[number], unit)
            computed = engine.stats().prefill_tokens - before
            assert computed == len(fifty[number]) - warm.reuse.cached_tokens
            hold(cold[number], warm, f"{len(fifty[number])} tokens, warm")
        batch, in_one_step = await together(engine, fifty, group)
        assert in_one_step >= 4
        for number, batched in batch:
            assert batched.reuse.cached_tokens == reusable(fifty[number], unit)
            hold(cold[number], batched, f"{len(fifty[number])} tokens, warm in a batch")
    for group in batches(len(fifty)):
        await evict(engine, [fifty[number] for number in group], filler=fifty[-1])
        batch, _ = await together(engine, fifty, group)
        for number, again in batch:
            assert again.reuse.cached_tokens == 0
            hold(cold[number], again, f"{len(fifty[number])} tokens, after eviction")
    reused_once = sum(reusable(prompt, unit) for prompt in fifty)
    assert engine.stats().cache.evicted_blocks >= reused_once // BLOCK > 0


def test_law_1_four_runs_of_fifty_prompts_agree_but_for_near_ties(in_fp32: LoadedModel) -> None:
    comparison = Comparison()

    async def main() -> None:
        settings = {**pool(in_fp32, POOL_TOKENS), "max_batch_tokens": STEP}
        async with running(in_fp32, **settings) as engine:
            await hold_four_runs(engine, in_fp32, 1, comparison.hold)

    asyncio.run(main())
    assert comparison.compared == 149, "but for the prompt of one token, three to each cold run"
    # The prompts never change, and no two logits here have ever been so close; one on another
    # CPU is chance, more would be an error.
    assert len(comparison.near_ties) <= 1, comparison.near_ties
    assert comparison.largest_logprob_difference > 0, "nothing but cold runs was compared"


def test_law_1_four_runs_of_fifty_prompts_are_the_same_bits_in_deterministic_mode(
    in_bf16: LoadedModel,
) -> None:
    async def main() -> None:
        # Chunks are whole here whatever the budget; this one lets the group run in one step. What
        # a prompt computes again behind its last whole chunk must not evict the next one's.
        settings = {
            **pool(in_bf16, POOL_TOKENS + (GROUP - 1) * CHUNK),
            "max_batch_tokens": GROUP * CHUNK,
        }
        async with running(in_bf16, **settings, deterministic=True) as engine:
            await hold_four_runs(engine, in_bf16, CHUNK, hold_exactly)

    asyncio.run(main())


def test_law_1_what_was_evicted_in_part_is_computed_from_there(in_fp32: LoadedModel) -> None:
    comparison = Comparison()

    async def main() -> None:
        async with running(in_fp32, **pool(in_fp32, 20 * BLOCK)) as engine:
            prompt, *others = prompts(in_fp32.codec, max_tokens=MAX_TOKENS)[::-1]
            prompt = prompt[:200]
            cold = await answer(engine, prompt, **ASKED)
            # 203 tokens stay cached, in 13 blocks; a prompt of eleven leaves room for nine of them.
            await answer(engine, others[0][: 11 * BLOCK], max_tokens=1)
            assert engine.stats().cache.evicted_blocks == 4
            warm = await answer(engine, prompt, **ASKED)
            assert warm.reuse.cached_tokens == 9 * BLOCK
            comparison.hold(cold, warm, "after eviction in part")

    asyncio.run(main())
    assert comparison.near_ties == []


def test_law_1_holds_to_the_last_token_of_the_models_own_context(in_bf16: LoadedModel) -> None:
    """The greatest length there is, 8,192: rope, plan and pool at their ends."""
    length = in_bf16.config.context_length
    rng = random.Random(8)
    prompt = [rng.randrange(1000, 40_000) for _ in range(length - MAX_TOKENS)]

    async def one(engine: LocalEngine) -> tuple[list[TokenLogprob], int]:
        tokens: list[TokenLogprob] = []
        generation = engine.submit(request(prompt, **ASKED))
        async for chunk in generation:
            tokens += chunk.logprobs
        return tokens, generation.reuse.cached_tokens

    async def main() -> None:
        own = pool(in_bf16, length + 512) | {"context_length": None}
        async with running(in_bf16, deterministic=True, **own) as engine:
            assert engine.context_length == length
            cold, none = await one(engine)
            warm, cached = await one(engine)
            assert (none, cached) == (0, reusable(prompt, CHUNK))
            assert len(cold) == MAX_TOKENS
            assert warm == cold
            others = [answer(engine, prompt[at : at + 40], **ASKED) for at in (1, 2, 3)]
            (batched, cached), *_ = await asyncio.gather(one(engine), *others)
            assert cached == reusable(prompt, CHUNK)
            assert batched == cold
            # What doesn't fit beside it takes its end away, three chunks of it.
            await answer(engine, [7, *prompt[: 1200 - MAX_TOKENS]], **ASKED)
            evicted, cached = await one(engine)
            assert 0 < cached < reusable(prompt, CHUNK)
            assert evicted == cold

    asyncio.run(main())


def test_edge_the_context_is_full_to_its_last_token(in_fp32: LoadedModel) -> None:
    """The four runs above have a prompt that fills the context; one token more is refused."""

    async def main() -> None:
        async with running(in_fp32, **pool(in_fp32, POOL_TOKENS)) as engine:
            longest = prompts(in_fp32.codec, max_tokens=MAX_TOKENS)[-1]
            assert len(longest) + MAX_TOKENS == CONTEXT == engine.context_length
            with pytest.raises(PromptTooLong) as refused:
                engine.submit(request([*longest, longest[0]], **ASKED))
            assert (refused.value.prompt_tokens, refused.value.limit) == (len(longest) + 1, CONTEXT)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("length", "blocks", "generated_before", "kept"),
    [
        # Grow from three blocks each to four where seven are: nothing of a short prompt is kept.
        (41, 7, 8, 0),
        # Grow from 17 blocks each to 18 where 35 are: the first chunk is kept.
        (265, 35, 8, CHUNK),
    ],
    ids=["within a chunk", "behind a chunk"],
)
def test_law_1_deterministic_bits_survive_preemption(
    in_bf16: LoadedModel, length: int, blocks: int, generated_before: int, kept: int
) -> None:
    asked = {"max_tokens": 12, "ignore_eos": True}
    pair = [prompt[:length] for prompt in prompts(in_bf16.codec, max_tokens=MAX_TOKENS)[-2:]]

    async def main() -> None:
        async with running(in_bf16, **pool(in_bf16, POOL_TOKENS), deterministic=True) as engine:
            cold = [await answer(engine, prompt, **asked) for prompt in pair]
        async with running(in_bf16, **pool(in_bf16, blocks * BLOCK), deterministic=True) as engine:
            squeezed = await asyncio.gather(*[answer(engine, prompt, **asked) for prompt in pair])
            assert engine.stats().preemptions == 1
            # The newest token had not been run yet.
            recomputed = length + generated_before - 1 - kept
            assert engine.stats().recomputed_tokens == recomputed
        for one, other in zip(cold, squeezed, strict=True):
            hold_exactly(one, other, "after a preemption")

    asyncio.run(main())


def test_law_1_a_resumed_request_reuses_no_generated_token_that_another_computed(
    in_bf16: LoadedModel,
) -> None:
    """A later turn computes this answer as part of its prompt: other bits than decoding's."""
    asked = {"max_tokens": 24, "ignore_eos": True}
    prompt = prompts(in_bf16.codec, max_tokens=MAX_TOKENS)[-1][: CHUNK - 6]

    async def main() -> None:
        # Two begin with 18 and 16 blocks. The first one's 19th costs the second one its 17.
        async with running(in_bf16, **pool(in_bf16, 35 * BLOCK), deterministic=True) as engine:
            cold = await answer(engine, prompt, **asked)
            later_turn = asyncio.create_task(answer(engine, [*prompt, *cold.ids], **asked))
            await until_running(engine)
            resumed = await answer(engine, prompt, **asked)
            assert engine.stats().preemptions == 1
            await later_turn
            hold_exactly(cold, resumed, "after a preemption")

    asyncio.run(main())
