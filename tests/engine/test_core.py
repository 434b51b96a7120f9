"""LocalEngine from outside: the real model, cache and scheduler behind `submit`."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engine.drive import (
    answer,
    assert_idle,
    choices,
    request,
    running,
    until_idle,
    until_running,
)
from torch import Tensor

from headstart.cache import CacheCorrupt
from headstart.engine.api import (
    EngineStopped,
    Generation,
    InvalidGrammar,
    InvalidRequest,
    PromptTooLong,
    QueueFull,
)
from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel
from headstart.model.params import Grammar
from headstart.model.runner import Slice
from headstart.settings import Settings

BLOCK = 16
KV_BYTES = 1 << 20
"""128 blocks of the tiny model: room for everything unless a test takes less."""


def prompt_of(length: int, seed: int = 0) -> list[int]:
    """Ordinary tokens; prompts of other seeds begin differently where a test asks for no hit."""
    rng = random.Random(f"{seed} {length}")
    return [rng.randrange(3, 380) for _ in range(length)]


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def with_engine(
    loaded: LoadedModel,
    test: Callable[[LocalEngine], Coroutine[Any, Any, None]],
    **settings: Any,
) -> None:
    """Run `test` on an engine; afterwards nothing may be left in it."""

    async def main() -> None:
        async with running(loaded, **{"kv_memory_bytes": KV_BYTES, **settings}) as engine:
            await test(engine)

    asyncio.run(main())


# What is refused, before anything is queued


def test_a_prompt_that_leaves_no_room_for_its_answer_is_refused_with_both_numbers(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        assert engine.context_length == 64
        with pytest.raises(PromptTooLong) as refused:
            engine.submit(request(prompt_of(60), max_tokens=5))
        assert (refused.value.prompt_tokens, refused.value.limit) == (60, 64)
        for number in ("64", "65", "60", "5"):
            assert number in str(refused.value)
        fitting = await answer(engine, prompt_of(60), max_tokens=4, ignore_eos=True)
        assert len(fitting.ids) == 4

    with_engine(tiny, test, context_length=64)


def test_the_context_is_no_longer_than_the_pool(tiny: LoadedModel) -> None:
    block_bytes = 2 * 2 * 2 * 16 * 4 * BLOCK  # k and v, layers, kv heads, head dim, fp32

    async def test(engine: LocalEngine) -> None:
        assert engine.context_length == 3 * BLOCK
        with pytest.raises(PromptTooLong, match="48"):
            engine.submit(request(prompt_of(41), max_tokens=8))
        assert len((await answer(engine, prompt_of(40), ignore_eos=True)).ids) == 8

    with_engine(tiny, test, kv_memory_bytes=3 * block_bytes + 1)


@pytest.mark.parametrize(
    ("prompt", "cause"),
    [([], "empty"), ([-1], r"0\.\."), ([5, 10**6], r"0\.\."), ([2**32], r"0\.\.")],
    ids=["edge_11 no token", "negative", "beyond the vocabulary", "beyond 32 bits"],
)
def test_token_ids_the_model_does_not_have_are_refused(
    tiny: LoadedModel, prompt: Sequence[int], cause: str
) -> None:
    async def test(engine: LocalEngine) -> None:
        with pytest.raises(InvalidRequest, match=cause) as refused:
            engine.submit(request(prompt))
        assert refused.value.field == "prompt"

    with_engine(tiny, test)


@pytest.mark.parametrize("token", [-1, 10**6])
def test_a_bias_on_a_token_the_model_does_not_have_is_refused(
    tiny: LoadedModel, token: int
) -> None:
    async def test(engine: LocalEngine) -> None:
        with pytest.raises(InvalidRequest, match=f"{token} in logit_bias") as refused:
            engine.submit(request(prompt_of(4), logit_bias={3: 1.0, token: 5.0}))
        assert refused.value.field == "logit_bias"

    with_engine(tiny, test)


def test_the_last_token_of_the_vocabulary_is_none_too_many(tiny: LoadedModel) -> None:
    last = tiny.config.vocab_size - 1

    async def test(engine: LocalEngine) -> None:
        assert (await answer(engine, [last], max_tokens=1)).account == (1, 0)
        with pytest.raises(InvalidRequest):
            engine.submit(request([last + 1]))

    with_engine(tiny, test)


def test_an_adapter_nobody_loaded_is_refused_by_name(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        with pytest.raises(InvalidRequest, match="'sql'") as refused:
            engine.submit(request(prompt_of(4), adapter="sql"))
        assert refused.value.field == "model"
        with pytest.raises(InvalidRequest, match="'sql'"):
            engine.lookup(prompt_of(4), tenant="", salt=None, adapter="sql")

    with_engine(tiny, test)


@pytest.mark.parametrize(
    "grammar",
    [Grammar("json_schema", '{"type": "no such type"}'), Grammar("lark", "start: undefined_rule")],
    ids=["json_schema", "lark"],
)
def test_a_grammar_that_can_not_be_used_is_refused(tiny: LoadedModel, grammar: Grammar) -> None:
    async def test(engine: LocalEngine) -> None:
        with pytest.raises(InvalidGrammar, match="grammar"):
            engine.submit(request(prompt_of(4), grammar=grammar))

    with_engine(tiny, test)


def test_a_full_queue_says_when_to_come_back(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        held = engine.submit(request(prompt_of(8), max_tokens=500, ignore_eos=True))
        await until_running(engine)
        queued = [engine.submit(request(prompt_of(8, seed))) for seed in (1, 2)]
        with pytest.raises(QueueFull, match="2") as refused:
            engine.submit(request(prompt_of(8, 3)))
        assert refused.value.retry_after >= 1
        for generation in (held, *queued):
            await generation.aclose()

    with_engine(tiny, test, max_running=1, max_waiting=2)


def test_all_choices_of_a_request_are_queued_or_none(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        with pytest.raises(QueueFull):
            engine.submit(request(prompt_of(8), n=3))
        assert engine.stats().waiting == 0
        assert len(await choices(engine, request(prompt_of(8), n=2))) == 2

    with_engine(tiny, test, max_waiting=2)


# The prompt's account


@pytest.mark.parametrize("length", [1, 15, 16, 17, 31, 32, 33, 256, 257])
def test_edge_01_a_repeated_prompt_reuses_all_but_its_last_token(
    tiny: LoadedModel, length: int
) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(length)
        cold = await answer(engine, prompt, max_tokens=1)
        before = engine.stats().prefill_tokens
        warm = await answer(engine, prompt, max_tokens=1)
        reused = length - 1
        assert (cold.account, before) == ((length, 0), length)
        assert warm.account == (length, reused)
        assert engine.stats().prefill_tokens - before == length - reused
        assert warm.ids == cold.ids

    with_engine(tiny, test)


def test_acct_13_four_choices_of_a_cold_prompt_are_one_prompt_and_no_hit(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(100)
        cold = await choices(engine, request(prompt, n=4, temperature=1.0, seed=1))
        assert {each.account for each in cold} == {(100, 0)}
        stats = engine.stats()
        assert (stats.cache.prompt_tokens, stats.cache.hit_tokens) == (100, 0)
        # One choice computes the prompt, each other one its last token: that gives the logits.
        assert stats.prefill_tokens == 100 + 3
        assert stats.requests_finished == {each.reason: 4 for each in cold[:1]}
        warm = await choices(engine, request(prompt, n=4, temperature=1.0, seed=1))
        assert {each.account for each in warm} == {(100, 99)}
        assert [each.ids for each in warm] == [each.ids for each in cold]
        assert len({each.ids for each in warm}) > 1

    with_engine(tiny, test)


def test_sched_01_a_herd_computes_its_common_prefix_once(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        shared = prompt_of(320)
        prompts = [shared + prompt_of(10, seed) for seed in range(1, 13)]
        assert len({prompt[320] for prompt in prompts}) == 12
        await asyncio.gather(*[answer(engine, prompt, max_tokens=4) for prompt in prompts])
        assert engine.stats().prefill_tokens == 320 + 12 * 10

    with_engine(tiny, test)


def test_sched_03_a_prompt_is_found_while_its_first_reader_still_decodes(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(100)
        first = engine.submit(request(prompt, max_tokens=800, ignore_eos=True))
        reader = aiter(first)
        await anext(reader)
        second = await answer(engine, prompt)
        assert second.account == (100, 99)
        assert engine.stats().running == 1, "the first one ended too soon to show anything"
        await first.aclose()

    with_engine(tiny, test)


def test_what_was_generated_is_found_by_the_next_turn(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(20)
        first = await answer(engine, prompt, max_tokens=30, ignore_eos=True)
        turn = [*prompt, *first.ids, *prompt_of(7, 1)]
        second = await answer(engine, turn)
        # The last generated token was never run, so 49 of the 50 have KV.
        assert second.account == (57, 49)

    with_engine(tiny, test)


def test_id_salts_and_tenants_share_nothing(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(64)
        for namespace in ({}, {"tenant": "a"}, {"tenant": "b"}, {"tenant": "a", "salt": "b"}):
            assert (await answer(engine, prompt, **namespace)).reuse.cached_tokens == 0
            assert (await answer(engine, prompt, **namespace)).reuse.cached_tokens == 63

    with_engine(tiny, test)


def test_an_adapter_shares_nothing_with_the_base_model_nor_runs_like_it(
    tiny: LoadedModel,
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
) -> None:
    directory = tiny_adapter(tiny_checkpoint("llama"))

    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(64)
        base = await answer(engine, prompt)
        adapted = await answer(engine, prompt, adapter="style")
        assert adapted.account == (64, 0)
        assert adapted.ids != base.ids
        mixed = await asyncio.gather(
            answer(engine, prompt), answer(engine, prompt, adapter="style"), answer(engine, prompt)
        )
        assert [each.ids for each in mixed] == [base.ids, adapted.ids, base.ids]
        assert {each.account for each in mixed} == {(64, 63)}

    with_engine(tiny, test, loras=(("style", str(directory)),))


def test_lookup_tells_what_would_hit_and_changes_nothing(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(64)
        known = [*prompt, *(await answer(engine, prompt)).ids[:-1]]
        before = engine.stats()
        branch = [*prompt[:37], *prompt_of(10, 1)]
        longer = [*known, *prompt_of(10, 1)]
        for _ in range(3):
            for tokens in (prompt, longer, branch, prompt[:40], prompt[:1], []):
                cached = max(0, min(common_prefix(tokens, known), len(tokens) - 1))
                found = engine.lookup(tokens, tenant="", salt=None, adapter=None)
                assert (found.prompt_tokens, found.cached_tokens) == (len(tokens), cached)
        assert engine.lookup(prompt, tenant="b", salt=None, adapter=None).cached_tokens == 0
        assert engine.stats() == before

    with_engine(tiny, test)


def test_a_look_up_does_not_save_a_prompt_from_eviction(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        old, new = prompt_of(BLOCK), prompt_of(BLOCK, 1)
        for prompt in (old, new):
            await answer(engine, prompt, max_tokens=1)
        assert engine.lookup([*old, 5], tenant="", salt=None, adapter=None).cached_tokens == BLOCK
        await answer(engine, prompt_of(2 * BLOCK, 2), max_tokens=1)
        left = [
            engine.lookup([*prompt, 5], tenant="", salt=None, adapter=None).cached_tokens
            for prompt in (old, new)
        ]
        assert left == [0, BLOCK]

    with_engine(tiny, test, kv_memory_bytes=3 * BLOCK * 512)


def test_with_the_cache_off_nothing_is_found(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        cold = await answer(engine, prompt_of(64))
        again = await answer(engine, prompt_of(64))
        assert again.account == cold.account == (64, 0)
        assert engine.stats().cache.cached_free_tokens == 0

    with_engine(tiny, test, prefix_cache=False)


# Reset


def test_sched_15_a_reset_during_a_request_lets_it_finish_and_nothing_of_it_is_found(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        prompt = prompt_of(100)
        expected = await answer(engine, prompt, max_tokens=60, ignore_eos=True)
        ids: list[int] = []
        generation = engine.submit(request(prompt, max_tokens=60, ignore_eos=True))
        async for chunk in generation:
            ids.extend(token.token_id for token in chunk.logprobs)
            if len(ids) == 10:
                engine.reset_cache()
                engine.audit()
                assert engine.stats().cache.cached_free_tokens == 0
        assert tuple(ids) == expected.ids
        assert engine.lookup(prompt, tenant="", salt=None, adapter=None).cached_tokens == 0
        assert engine.stats().cache.cached_free_tokens == 0
        fresh = await answer(engine, prompt, max_tokens=60, ignore_eos=True)
        assert (fresh.ids, fresh.account) == (expected.ids, (100, 0))
        assert (await answer(engine, prompt)).account == (100, 99)

    with_engine(tiny, test)


# How a request ends


def test_a_cancelled_request_frees_everything_at_once(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        generation = engine.submit(request(prompt_of(100), max_tokens=800, ignore_eos=True, n=3))
        reader = aiter(generation)
        await anext(reader)
        await generation.aclose()
        await until_idle(engine)
        assert_idle(engine)
        assert engine.stats().requests_finished == {"abort": 3}
        await generation.aclose()
        assert engine.stats().requests_finished == {"abort": 3}

    with_engine(tiny, test)


def test_leaving_the_loop_cancels(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        async def first_chunk() -> None:
            async for _ in engine.submit(request(prompt_of(9), max_tokens=800, ignore_eos=True)):
                return

        await first_chunk()
        await until_idle(engine)
        assert engine.stats().requests_finished == {"abort": 1}

    with_engine(tiny, test)


def test_a_request_cancelled_before_its_first_step_holds_nothing(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        for seed in range(50):
            await engine.submit(request(prompt_of(50, seed), n=2)).aclose()
        await until_idle(engine)
        assert engine.stats().requests_finished == {"abort": 100}
        assert engine.stats().generated_tokens <= 100

    with_engine(tiny, test)


def test_closing_ends_an_iteration_that_waits_for_the_next_chunk(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        blocker = engine.submit(request(prompt_of(9), max_tokens=900, ignore_eos=True))
        waiting = engine.submit(request(prompt_of(9, 1)))

        async def read() -> list[object]:
            return [chunk async for chunk in waiting]

        reader = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        await waiting.aclose()
        assert await asyncio.wait_for(reader, 5) == []
        await blocker.aclose()

    with_engine(tiny, test, max_running=1)


def test_closing_the_engine_lets_running_requests_end_within_the_time(tiny: LoadedModel) -> None:
    async def main() -> None:
        engine = build_engine(tiny, Settings(kv_memory_bytes=KV_BYTES))
        expected = await answer(engine, prompt_of(9), max_tokens=40, ignore_eos=True)
        under_way = asyncio.create_task(
            answer(engine, prompt_of(9), max_tokens=40, ignore_eos=True)
        )
        await asyncio.sleep(0)
        closing = asyncio.create_task(engine.aclose(30))
        await asyncio.sleep(0)
        assert not engine.ready
        with pytest.raises(EngineStopped, match="shutting down"):
            engine.submit(request(prompt_of(9)))
        assert (await under_way).ids == expected.ids
        await asyncio.wait_for(closing, 5)
        assert_idle(engine)

    asyncio.run(main())


def test_closing_the_engine_aborts_what_does_not_end_in_time(tiny: LoadedModel) -> None:
    async def main() -> None:
        engine = build_engine(tiny, Settings(kv_memory_bytes=KV_BYTES, max_running=1))
        runs = asyncio.create_task(answer(engine, prompt_of(9), max_tokens=900, ignore_eos=True))
        waits = asyncio.create_task(answer(engine, prompt_of(9, 1)))
        await until_running(engine)
        await engine.aclose(0)
        cut, never_begun = await asyncio.gather(runs, waits)
        assert (cut.reason, never_begun.reason) == ("abort", "abort")
        assert len(cut.ids) < 900
        assert never_begun.ids == ()
        assert_idle(engine)

    asyncio.run(main())


class Faulty:
    """Stands before the engine's runner and raises when told to."""

    def __init__(self, engine: LocalEngine) -> None:
        self._real = engine._runner.run
        self.failures = 0
        engine._runner.run = self  # type: ignore[method-assign]

    def __call__(self, slices: Sequence[Slice]) -> Tensor:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("the accelerator fell off the bus")
        return self._real(slices)


def test_a_failing_step_ends_its_requests_with_an_error_and_the_engine_goes_on(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        faulty = Faulty(engine)
        expected = await answer(engine, prompt_of(40))
        generations = [
            engine.submit(request(prompt_of(40, seed), max_tokens=500, ignore_eos=True))
            for seed in (1, 2)
        ]
        readers = [aiter(generation) for generation in generations]
        for reader in readers:
            await anext(reader)
        faulty.failures = 1
        for reader in readers:
            with pytest.raises(EngineStopped, match="failed"):
                async for _ in reader:
                    pass
        assert engine.stats().requests_finished["error"] == 2
        assert_idle(engine)
        assert engine.ready
        # A step that failed has published nothing: what is found is what was computed before.
        again = await answer(engine, prompt_of(40))
        assert (again.ids, again.account) == (expected.ids, (40, 39))

    with_engine(tiny, test)


def test_pub_a_failed_prefill_leaves_no_key(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        Faulty(engine).failures = 1
        with pytest.raises(EngineStopped):
            await answer(engine, prompt_of(100))
        assert engine.lookup(prompt_of(100), tenant="", salt=None, adapter=None).cached_tokens == 0
        assert_idle(engine)
        assert (await answer(engine, prompt_of(100))).account == (100, 0)

    with_engine(tiny, test)


def test_a_request_waiting_for_a_prefix_whose_computation_fails_computes_it_itself(
    tiny: LoadedModel,
) -> None:
    async def test(engine: LocalEngine) -> None:
        expected = await answer(engine, prompt_of(100), salt="elsewhere")
        faulty = Faulty(engine)
        faulty.failures = 1
        first = asyncio.create_task(answer(engine, prompt_of(100)))
        second = asyncio.create_task(answer(engine, prompt_of(100)))
        with pytest.raises(EngineStopped):
            await first
        outcome = await second
        assert (outcome.ids, outcome.account) == (expected.ids, (100, 0))

    with_engine(tiny, test)


def test_an_engine_that_can_not_trust_its_books_stops_and_leaves_nobody_waiting(
    tiny: LoadedModel,
) -> None:
    async def main() -> None:
        engine = build_engine(tiny, Settings(kv_memory_bytes=KV_BYTES, max_running=1))
        held = asyncio.create_task(answer(engine, prompt_of(9), max_tokens=900, ignore_eos=True))
        queued = asyncio.create_task(answer(engine, prompt_of(9, 1)))
        await until_running(engine)

        def corrupt(*_: Any) -> None:
            raise CacheCorrupt("block 7: 1 references, 2 holders")

        engine._scheduler.complete = corrupt  # type: ignore[method-assign]
        engine._scheduler.finish = corrupt  # type: ignore[method-assign]
        for task in (held, queued):
            with pytest.raises(EngineStopped, match="failed"):
                await task
        assert not engine.ready
        with pytest.raises(EngineStopped):
            engine.submit(request(prompt_of(9)))
        await asyncio.wait_for(engine.aclose(30), 5)

    asyncio.run(main())


def test_an_event_loop_that_is_gone_does_not_stop_the_engine(tiny: LoadedModel) -> None:
    engine = build_engine(tiny, Settings(kv_memory_bytes=KV_BYTES))

    async def leave() -> Generation:
        return engine.submit(request(prompt_of(9), max_tokens=50, ignore_eos=True))

    async def come() -> None:
        assert len((await answer(engine, prompt_of(9), max_tokens=60, ignore_eos=True)).ids) == 60
        assert engine.stats().requests_finished == {"length": 2}
        await engine.aclose(0)

    abandoned = asyncio.run(leave())
    asyncio.run(come())
    assert abandoned.completion_tokens == 0


# What is generated


def test_greedy_answers_do_not_depend_on_the_company(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        prompts = [prompt_of(5 + 11 * seed, seed) for seed in range(12)]
        alone = [await answer(engine, prompt, salt="alone") for prompt in prompts]
        assert min(min(each.margins) for each in alone) > 1e-3, "near ties would blur this"
        together = await asyncio.gather(*[answer(engine, prompt) for prompt in prompts])
        assert [each.ids for each in together] == [each.ids for each in alone]

    with_engine(tiny, test)


def test_a_seed_draws_the_same_in_and_out_of_a_batch(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        def seeded(seed: int) -> Coroutine[Any, Any, Any]:
            drawn = {"temperature": 0.8, "seed": seed, "max_tokens": 12, "ignore_eos": True}
            return answer(engine, prompt_of(20), **drawn)

        alone = [(await seeded(seed)).ids for seed in range(6)]
        together = [each.ids for each in await asyncio.gather(*map(seeded, range(6)))]
        assert together == alone
        assert len(set(alone)) == 6

    with_engine(tiny, test)


def test_without_a_seed_two_draws_differ(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        drawn = {"temperature": 2.0, "max_tokens": 30, "ignore_eos": True}
        first = await answer(engine, prompt_of(20), **drawn)
        second = await answer(engine, prompt_of(20), **drawn)
        assert first.ids != second.ids

    with_engine(tiny, test)


def test_text_ends_before_the_stop_string_also_across_tokens(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        free = await answer(engine, prompt_of(20), max_tokens=40, ignore_eos=True)
        borders = _text_borders(tiny, free.ids)
        # From the middle of one token's text into the next one's.
        at = next(
            border
            for before, border, after in zip(borders, borders[1:], borders[2:], strict=False)
            if border - before > 1
            and after > border
            and free.text.index(free.text[border - 1 : border + 1]) == border - 1
        )
        stop = free.text[at - 1 : at + 1]
        stopped = await answer(engine, prompt_of(20), max_tokens=40, ignore_eos=True, stop=(stop,))
        assert (stopped.text, stopped.reason) == (free.text[: at - 1], "stop")
        assert stopped.ids == free.ids[: len(stopped.ids)]
        assert len(stopped.ids) < len(free.ids)

    with_engine(tiny, test)


def _text_borders(loaded: LoadedModel, ids: Sequence[int]) -> list[int]:
    """After how many characters each token's text ends; the text must be whole characters."""
    return [
        len(loaded.codec.decode(ids[:count], skip_special=True)) for count in range(len(ids) + 1)
    ]


def test_an_end_of_sequence_token_ends_the_answer_unless_it_is_ignored(tiny: LoadedModel) -> None:
    eos = tiny.codec.eos_ids[0]

    async def test(engine: LocalEngine) -> None:
        forced = {"logit_bias": {eos: 100.0}, "max_tokens": 5}
        ended = await answer(engine, prompt_of(20), **forced)
        assert (ended.ids, ended.text, ended.reason) == ((eos,), "", "stop")
        going_on = await answer(engine, prompt_of(20), **forced, ignore_eos=True)
        assert (going_on.ids, going_on.reason) == ((eos,) * 5, "length")

    with_engine(tiny, test)


def test_one_token_is_the_shortest_answer(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        one = await answer(engine, prompt_of(20), max_tokens=1, ignore_eos=True)
        assert (len(one.ids), one.reason) == (1, "length")
        more = await answer(engine, prompt_of(20), max_tokens=3, ignore_eos=True)
        assert more.ids[:1] == one.ids

    with_engine(tiny, test)


def test_a_long_prefill_does_not_stall_a_running_stream(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        stream = engine.submit(request(prompt_of(8), max_tokens=900, ignore_eos=True))
        reader = aiter(stream)
        await anext(reader)
        long = asyncio.create_task(answer(engine, prompt_of(800), max_tokens=1))
        between = 0
        while not long.done():
            await anext(reader)
            between += 1
        # 800 tokens in chunks of what a budget of 64 leaves beside one decode: 13 steps at least.
        assert between >= 12
        assert (await long).account == (800, 0)
        await stream.aclose()

    with_engine(tiny, test, max_batch_tokens=64)
