"""SCHED: herds, deadlock and eviction policy, through the real engine and over HTTP."""

import asyncio
import threading
import time
from typing import Any

import httpx
from tests.engine.drive import answer
from tests.failure_kinds.drive import cold_answers, common_prefix, on_engine, prompt_of
from tests.server.conftest import Live

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel


def test_sched_04_two_that_together_need_more_than_the_pool_both_get_on(tiny: LoadedModel) -> None:
    """vllm#45388 at a hundredth: pool 20 blocks, A needs 16 with 5 there, B needs 12 with 7."""
    a_head, b_head = prompt_of(5 * 16, 1), prompt_of(7 * 16, 2)
    prompts = [[*a_head, *prompt_of(11 * 16 - 2, 3)], [*b_head, *prompt_of(5 * 16 - 2, 4)]]
    cold = cold_answers(tiny, prompts, max_tokens=2)

    async def test(engine: LocalEngine) -> None:
        for head in (a_head, b_head):
            await answer(engine, [*head, 5], max_tokens=1)
        outcomes = await asyncio.gather(
            *(answer(engine, prompt, max_tokens=2) for prompt in prompts)
        )
        assert [outcome.ids for outcome in outcomes] == [outcome.ids for outcome in cold]
        assert outcomes[0].reuse.cached_tokens == 5 * 16

    on_engine(tiny, test, blocks=20, max_batch_tokens=32)


def test_sched_06_health_answers_while_hits_and_stores_go_on_side_by_side(live: Live) -> None:
    """One client hits in a loop, one stores and resets, and a third asks for health."""
    shared = prompt_of(200, seed=6)
    reset = live.http()
    errors: list[BaseException] = []

    def work(run: Any) -> None:
        try:
            for turn in range(40):
                run(turn)
        except BaseException as error:
            errors.append(error)

    client = live.client()

    def complete(prompt: list[int]) -> None:
        client.completions.create(model="tiny", prompt=prompt, max_tokens=2)

    def store(turn: int) -> None:
        complete(prompt_of(200, seed=600 + turn))
        if turn % 10 == 9:
            reset.post("/cache/reset").raise_for_status()

    threads = [
        threading.Thread(target=work, args=(lambda _: complete(shared),)),
        threading.Thread(target=work, args=(store,)),
    ]
    for thread in threads:
        thread.start()
    asked = 0
    with httpx.Client(base_url=live.url, timeout=5, trust_env=False) as http:
        while any(thread.is_alive() for thread in threads):
            assert http.get("/health").json() == {"status": "ready"}
            asked += 1
            time.sleep(0.01)
    reset.close()
    assert not errors
    assert asked >= 10


def test_sched_10_a_conversation_of_50_turns_takes_the_room_of_its_longest_turn(
    tiny: LoadedModel,
) -> None:
    """A longer prompt is the shorter one and a bit, not a second copy of it."""

    async def test(engine: LocalEngine) -> None:
        history, computed = prompt_of(40), 0
        for turn in range(50):
            outcome = await answer(engine, history, max_tokens=4, ignore_eos=True)
            assert outcome.reuse.cached_tokens == computed
            # All but the last token drawn, which nobody ran.
            computed = len(history) + 4 - 1
            blocks = -(-computed // 16)
            assert engine.stats().cache.cached_free_tokens == blocks * 16
            history = [*history, *outcome.ids, *prompt_of(7, seed=turn)]
        assert len(history) > 550
        assert engine.stats().cache.evicted_blocks == 0

    on_engine(tiny, test)


def test_sched_11_two_chats_with_a_common_beginning_keep_their_caches_by_turns(
    tiny: LoadedModel,
) -> None:
    """12 % in common, alternating 10 times: each turn finds all that its last one computed."""
    head = prompt_of(24)
    chats = [[*head, *prompt_of(176, seed)] for seed in (1, 2)]

    async def test(engine: LocalEngine) -> None:
        for turn in range(10):
            for which, chat in enumerate(chats):
                outcome = await answer(engine, chat, max_tokens=3, ignore_eos=True)
                assert outcome.reuse.cached_tokens == known[which]
                known[which] = len(chat) + 3 - 1
                chats[which] = [*chat, *outcome.ids, *prompt_of(9, seed=turn)]

    known = [0, common_prefix(*chats)]
    on_engine(tiny, test)


def test_sched_15_a_reset_during_a_long_answer_is_done_when_it_says_so(live: Live) -> None:
    """It is not refused, so it need not lie: what comes after it finds nothing from before."""
    prompt = prompt_of(100, seed=15)

    def cached() -> int:
        with live.http() as http:
            found = http.post("/cache/lookup", json={"tokens": prompt}).json()
        return int(found["cached_tokens"])

    # Not strict: OpenAI's own chunks have a null finish_reason, which its type denies.
    with live.client(strict=False).completions.create(
        model="tiny",
        prompt=prompt,
        max_tokens=600,
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"ignore_eos": True},
    ) as stream:
        next(iter(stream))
        assert cached() == 99
        with live.http() as http:
            response = http.post("/cache/reset")
        assert (response.status_code, response.json()) == (200, {"reset": True})
        assert live.engine.stats().running == 1, "the answer has ended too early"
        assert cached() == 0
        *_, last = stream
    assert last.usage is not None
    assert last.usage.completion_tokens == 600
    assert cached() == 0, "what was computed across the reset is not kept"
    again = live.client().completions.create(model="tiny", prompt=prompt, max_tokens=1)
    assert again.usage is not None
    assert again.usage.prompt_tokens_details is not None
    assert again.usage.prompt_tokens_details.cached_tokens == 0
    assert cached() == 99
