"""LIFE: leak, double free, steal, abort and preemption, with real KV behind the books.

`on_engine` and `served` end with an audit: nothing held, nothing lost.
"""

import asyncio
from typing import Any

import pytest
from tests.engine.drive import answer, choices, request, until_idle
from tests.failure_kinds.drive import StepGate, cold_answers, on_engine, prompt_of
from tests.server.conftest import Live

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel


def test_life_04_of_eight_that_share_a_prefix_four_leave_twice_and_four_answer(
    tiny: LoadedModel,
) -> None:
    """They leave while the step that computes the prefix runs, and close again after it."""
    shared = prompt_of(160)
    prompts = [[*shared, *prompt_of(5, seed)] for seed in range(8)]
    cold = cold_answers(tiny, prompts[4:], ignore_eos=True)

    async def test(engine: LocalEngine) -> None:
        gate = StepGate(engine, hold_at=2)
        leaving = [engine.submit(request(prompt, ignore_eos=True)) for prompt in prompts[:4]]
        staying = [
            asyncio.create_task(answer(engine, prompt, ignore_eos=True)) for prompt in prompts[4:]
        ]
        await gate.held()
        for generation in leaving:
            await generation.aclose()
        gate.open()
        for generation in leaving:
            await generation.aclose()
        stayed = await asyncio.gather(*staying)
        assert [outcome.ids for outcome in stayed] == [outcome.ids for outcome in cold]
        assert engine.stats().requests_finished == {"abort": 4, "length": 4}

    on_engine(tiny, test, max_batch_tokens=64)


@pytest.mark.parametrize("block_size", [1, 16])
@pytest.mark.parametrize("ending", ["stop", "length", "abort"])
def test_life_05_every_block_comes_back_once_however_a_request_ends(
    tiny: LoadedModel, block_size: int, ending: str
) -> None:
    """200 tokens into a pool that just holds them, three times: a leak would refuse the third."""
    prompt = prompt_of(20)

    async def end(engine: LocalEngine) -> None:
        if ending == "abort":
            generation = engine.submit(request(prompt, max_tokens=200, ignore_eos=True))
            async for _ in generation:
                if generation.completion_tokens == 199:
                    break
            await generation.aclose()
        elif ending == "length":
            assert (
                await answer(engine, prompt, max_tokens=200, ignore_eos=True)
            ).reason == "length"
        else:
            whole = await answer(engine, prompt, max_tokens=200, ignore_eos=True, salt="s")
            last = whole.ids[-1]
            stopped = await answer(
                engine, prompt, max_tokens=200, ignore_eos=True, stop_token_ids=(last,)
            )
            assert stopped.reason == "stop"
        await until_idle(engine)

    async def test(engine: LocalEngine) -> None:
        for _ in range(3):
            await end(engine)
            engine.audit()
            assert engine.stats().cache.used_tokens == 0

    on_engine(tiny, test, block_size=block_size, blocks=224 // block_size)


def test_life_13_preempted_requests_answer_as_if_they_had_been_alone(tiny: LoadedModel) -> None:
    """Eight that grow to 160 tokens each in a pool for three."""
    prompts = [prompt_of(60, seed) for seed in range(8)]
    fields = {"max_tokens": 100, "ignore_eos": True}
    cold = cold_answers(tiny, prompts, **fields)

    async def test(engine: LocalEngine) -> None:
        together = await asyncio.gather(*(answer(engine, prompt, **fields) for prompt in prompts))
        assert engine.stats().preemptions > 0
        assert [outcome.ids for outcome in together] == [outcome.ids for outcome in cold]
        # A prompt found again after its own preemption is no hit of the client's.
        assert [outcome.reuse.cached_tokens for outcome in together] == [0] * 8

    on_engine(tiny, test, blocks=30)


OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "n": {"n": 3},
    "logprobs": {"logprobs": 5},
    "salt": {"extra_body": {"cache_salt": "mine"}},
    "switches of other servers": {
        "extra_body": {
            "cache": False,
            "cache_prompt": False,
            "no_store": True,
            "skip_radix_cache_insert": True,
            "return_hidden_states": False,
        }
    },
}


@pytest.mark.parametrize("option", OPTIONS)
def test_life_15_no_option_of_a_request_keeps_a_prompt_of_many_chunks_from_getting_on(
    live: Live, option: str
) -> None:
    """Seven chunks of 64 tokens are computed once, and no client can switch the cache off."""
    prompt = prompt_of(400, seed=list(OPTIONS).index(option))
    fields = OPTIONS[option]

    def run() -> tuple[int, int]:
        before = live.engine.stats().prefill_tokens
        usage = (
            live.client()
            .completions.create(model="tiny", prompt=prompt, max_tokens=2, **fields)
            .usage
        )
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        cached = usage.prompt_tokens_details.cached_tokens
        assert cached is not None
        return live.engine.stats().prefill_tokens - before, cached

    others = fields.get("n", 1) - 1
    live.engine.reset_cache()  # Other tests' prompts may begin with the same token.
    # Each further choice shares all but the token that it needs the logits of.
    assert run() == (400 + others, 0)
    assert run() == (1 + others, 399)


def test_life_15_with_the_operators_switch_off_it_gets_on_as_well(tiny: LoadedModel) -> None:
    async def test(engine: LocalEngine) -> None:
        for _ in range(2):
            before = engine.stats().prefill_tokens
            outcomes = await choices(engine, request(prompt_of(400), n=2))
            assert [outcome.reason for outcome in outcomes] == ["length"] * 2
            assert engine.stats().prefill_tokens - before == 800

    on_engine(tiny, test, prefix_cache=False, max_batch_tokens=64)
