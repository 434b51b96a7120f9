"""KV on its way down and up. Blocks of 4 tokens, chunks of 8, unless a test says otherwise."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.engine.offload_twin import WAIT, Twin, prompt_of

from headstart.cache import Reason
from headstart.engine.sequence import Sequence
from headstart.stores import intake as intake_module
from headstart.stores.errors import Full, Unavailable
from headstart.stores.record import PAGE


@contextmanager
def twin(*names: str, **fields: Any) -> Iterator[Twin]:
    made = Twin(*(names or ("disk",)), **fields)
    try:
        yield made
    finally:
        made.close()


def account(sequence: Sequence) -> tuple[int, dict[str, int]]:
    """Tokens reused, and those of them that came up from a tier."""
    reuse = sequence.group.reuse
    assert reuse is not None
    assert sum(reuse.loaded.values()) <= reuse.cached_tokens < reuse.prompt_tokens
    return reuse.cached_tokens, dict(reuse.loaded)


def reason(sequence: Sequence) -> Reason:
    reuse = sequence.group.reuse
    assert reuse is not None
    assert reuse.miss is not None
    return reuse.miss.reason


@pytest.mark.parametrize(
    ("length", "comes_back"),
    [(7, 0), (8, 7), (9, 8), (15, 8), (16, 15), (17, 16), (31, 24), (32, 31), (33, 32)],
)
def test_whole_chunks_come_back_after_a_restart_and_never_the_last_token(
    length: int, comes_back: int
) -> None:
    with twin() as t:
        prompt = prompt_of(length)
        assert account(t.run(prompt)) == (0, {})
        t.forget_pool()
        expected = {"disk": comes_back} if comes_back else {}
        assert account(t.run(prompt)) == (comes_back, expected)


@pytest.mark.parametrize(("block_size", "chunk_blocks"), [(1, 8), (1, 1), (16, 1), (784, 1)])
def test_every_block_size_makes_the_trip(block_size: int, chunk_blocks: int) -> None:
    chunk = block_size * chunk_blocks
    with twin(block_size=block_size, chunk_blocks=chunk_blocks, blocks=64, step_tokens=4000) as t:
        prompt = prompt_of(2 * chunk + 1)
        t.run(prompt)
        t.forget_pool()
        assert account(t.run(prompt)) == (2 * chunk, {"disk": 2 * chunk})


def test_in_deterministic_mode_hits_from_a_tier_are_whole_units() -> None:
    with twin(fixed=8, chunk_blocks=4) as t:
        prompt = prompt_of(40)
        t.run(prompt)
        t.forget_pool()
        assert account(t.run(prompt)) == (32, {"disk": 32})
        # A prompt that is all loaded gives up the unit in which its last token lies.
        t.forget_pool()
        assert account(t.run(prompt[:32])) == (24, {"disk": 24})


def test_a_pool_smaller_than_a_chunk_stores_and_loads_nothing() -> None:
    with twin(blocks=6, chunk_blocks=8) as t:
        t.run(prompt_of(20))
        t.forget_pool()
        assert account(t.run(prompt_of(20))) == (0, {})
        assert t.rig.store["disk"].seen == []


def test_what_left_a_tiny_pool_comes_back_from_memory() -> None:
    with twin("ram", blocks=12) as t:
        prompts = [prompt_of(33, seed) for seed in range(6)]
        for prompt in prompts:
            t.run(prompt)
        t.rig.drained()
        assert t.cache.evicted > 12
        for prompt in prompts:
            assert account(t.run(prompt)) == (32, {"ram": 32})


def test_only_what_the_pool_lacks_is_read_and_what_it_has_is_not_written() -> None:
    with twin() as t:
        long, short = prompt_of(65), prompt_of(65)[:30]
        t.run(long)
        t.forget_pool()
        t.run(short)
        gets = t.rig.store["disk"].seen.count("get")
        again = t.run(long)
        # 28 tokens in whole blocks are in the pool, and one more that is copied with its block.
        assert account(again) == (64, {"disk": 64 - 30})
        assert t.rig.store["disk"].seen.count("get") - gets == 8 - 3


def test_a_copied_part_of_a_block_is_copied_before_what_was_loaded_is_written() -> None:
    """The pool is so small that the block to copy from is given up and loaded into."""
    with twin(blocks=9) as t:
        first = prompt_of(33)
        t.run(first)
        t.forget_pool()
        t.run(first[:17])
        t.run(first[:18])
        copies: list[tuple[int, int, int]] = []
        run = t.pool.copy_all
        t.pool.copy_all = lambda asked: run([copies.append(c) or c for c in asked])  # type: ignore[func-returns-value,method-assign]
        longer = t.add(first)
        t.loaded(longer)
        assert t.step()
        ((source, target, _),) = copies
        assert source != target
        assert longer.lease is None or source in longer.lease.blocks
        assert account(longer) == (32, {"disk": 14})


def test_equal_prompts_at_once_share_blocks_and_get_the_right_ones() -> None:
    with twin(blocks=256) as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        herd = [t.add(prompt) for _ in range(8)]
        for sequence in herd:
            t.loaded(sequence)
        while len(t.done) < 9:
            assert t.step()
        assert [account(sequence)[0] for sequence in herd] == [64] * 8
        assert sum(account(sequence)[1].get("disk", 0) for sequence in herd) == 64
        assert t.offload.loaded == {"disk": 64}


def test_nothing_is_written_into_a_block_that_others_can_find() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        late = t.add(prompt)
        t.loaded(late)
        early = t.add(prompt[:30])
        t.loaded(early)
        # The shorter one computes while the longer one still has its load to write.
        t.scheduler.waiting.rotate(1)
        written: list[int] = []
        write = t.pool.write_blocks

        def watched(blocks: Any, data: Any, skip: int = 0) -> None:
            findable = {b for lease in t.cache._leases for b in lease.blocks[: lease.shared]}
            assert not findable & set(blocks)
            written.extend(blocks)
            write(blocks, data, skip)

        t.pool.write_blocks = watched  # type: ignore[method-assign]
        while len(t.done) < 3:
            assert t.step()
        assert written
        assert account(late)[0] == 64


def test_a_request_waits_for_its_load_and_no_longer_than_its_deadline() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["get"] = lambda: (held.set(), go.wait(WAIT))
        t.offload.prefilled(100, 100.0)  # a token takes a second
        sequence = t.add(prompt)
        assert held.wait(WAIT)
        assert not t.step()
        t.rig.clock.now += 0.8 * 64 - 0.1
        assert not t.step()
        t.rig.clock.now += 0.2
        while sequence not in t.done:
            assert t.step()
        assert account(sequence) == (0, {})
        assert reason(sequence) is Reason.TIER_DOWN
        go.set()


def test_what_came_before_the_deadline_is_used_and_what_comes_after_is_dropped() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        gets = iter(range(100))
        held, go = threading.Event(), threading.Event()

        def third_hangs() -> None:
            if next(gets) == 2:
                held.set()
                assert go.wait(WAIT)

        t.rig.store["disk"].hooks["get"] = third_hangs
        t.offload.prefilled(100, 100.0)
        sequence = t.add(prompt)
        assert held.wait(WAIT)
        t.rig.clock.now += 100
        t.step()
        go.set()
        t.rig.until(lambda: t.rig.events().get("late", 0) > 0)
        while sequence not in t.done:
            assert t.step()
        assert account(sequence) == (16, {"disk": 16})
        assert reason(sequence) is Reason.TIER_DOWN
        t.rig.until(lambda: t.rig.tiers._held.bytes == 0)


def test_what_the_pool_gave_up_and_no_tier_has_was_evicted_also_behind_what_came_up() -> None:
    with twin("ram", arena=3 * 2 * PAGE, ghosts=100) as t:  # Three chunks of eight.
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        back = t.run(prompt)
        came, _ = account(back)
        miss = back.group.miss
        assert miss is not None
        assert 0 < came < 64
        assert (miss.reason, miss.at, miss.lost_tokens) == (Reason.EVICTED, came, 64 - came)


def test_what_is_behind_the_last_unit_that_came_up_is_block_floor() -> None:
    with twin(fixed=8, chunk_blocks=4) as t:
        prompt = prompt_of(45)
        t.run(prompt)
        t.forget_pool()
        back = t.run(prompt)
        assert account(back) == (32, {"disk": 32})
        assert reason(back) is Reason.NEVER_SEEN
        prompt = prompt[:36]
        t.forget_pool()
        back = t.run(prompt)
        assert account(back) == (32, {"disk": 32})
        assert reason(back) is Reason.BLOCK_FLOOR


def test_a_tier_that_is_slow_to_say_what_it_has_has_promised_nothing() -> None:
    with twin() as t:
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["look"] = lambda: (held.set(), go.wait(WAIT))
        sequence = t.add(prompt_of(65))
        assert held.wait(WAIT)
        t.rig.clock.now += 100
        while sequence not in t.done:
            assert t.step()
        assert reason(sequence) is Reason.NEVER_SEEN
        go.set()


def test_a_client_that_leaves_while_its_load_runs_ends_it() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["get"] = lambda: (held.set(), go.wait(WAIT))
        sequence = t.add(prompt)
        assert held.wait(WAIT)
        t.drop(sequence)
        go.set()
        t.rig.until(lambda: t.rig.tiers._held.bytes == 0)
        assert t.rig.store["disk"].seen.count("get") == 1
        assert t.cache.leased == 0


def test_a_promise_not_kept_is_told_as_the_reason() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        calls = iter(range(100))

        def third_fails() -> None:
            if next(calls) == 2:
                raise Unavailable("gone")

        t.rig.store["disk"].hooks["get"] = third_fails
        sequence = t.run(prompt)
        assert account(sequence) == (16, {"disk": 16})
        reuse = sequence.group.reuse
        assert reuse is not None
        assert reuse.miss is not None
        assert (reuse.miss.reason, reuse.miss.at) == (Reason.TIER_DOWN, 16)
        assert reason(t.run(prompt)) is Reason.CAPPED


def test_a_reset_while_a_load_is_under_way_is_not_undone_by_it() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        sequence = t.add(prompt)
        t.loaded(sequence)
        t.cache.reset()
        while sequence not in t.done:
            assert t.step()
        assert account(sequence) == (0, {})


def test_after_a_reset_nothing_old_is_sent_down_and_nothing_old_comes_up() -> None:
    with twin(step_tokens=16) as t:
        prompt = prompt_of(65)
        t.run(prompt)
        running = t.add(prompt_of(65, seed=1))
        t.loaded(running)
        assert t.step()
        t.rig.drained()
        stored = t.rig.counts("disk")["stored"]
        t.cache.reset()
        while running not in t.done:
            assert t.step()
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == stored
        t.forget_pool()
        assert account(t.run(prompt)) == (0, {})
        t.forget_pool()
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_a_preempted_sequence_counts_only_what_its_last_admission_reused() -> None:
    """What it had loaded is gone from pool and tier when it is admitted again."""
    with twin(blocks=26, step_tokens=16) as t:
        prompt = prompt_of(65)
        t.run(prompt[:33])
        t.forget_pool()
        victim = t.add(prompt)
        t.loaded(victim)
        assert t.step()
        assert victim.loaded == {"disk": 32}
        t.scheduler._preempt(victim)
        t.forget_pool()
        t.rig.store["disk"].error = Unavailable("gone")
        t.finish()
        assert account(victim) == (0, {})


def test_a_preempted_sequence_looks_at_the_tiers_again_when_there_is_room_for_it() -> None:
    """It had loaded 32 tokens and computed 16, all of which have left the pool since."""
    with twin(blocks=26, step_tokens=16) as t:
        prompt = prompt_of(65)
        t.run(prompt[:33])
        t.forget_pool()
        victim = t.add(prompt)
        t.loaded(victim)
        assert t.step()
        t.scheduler._preempt(victim)
        t.forget_pool()
        t.finish()
        assert victim.loaded == {"disk": 48}
        assert t.scheduler.counters.recomputed_tokens == 0


def test_a_preempted_sequence_does_not_look_before_there_is_room_for_it() -> None:
    """Until then the pool has what it will have lost by the time it is admitted."""
    with twin(blocks=26, step_tokens=16) as t:
        victim = t.add(prompt_of(65))
        t.loaded(victim)
        for _ in range(2):
            assert t.step()
        hog = t.cache.acquire(t.cache.chain(t.namespace("b")), [1] * 36)
        assert hog is not None
        t.scheduler._preempt(victim)
        second = t.cache.acquire(t.cache.chain(t.namespace("b")), [2] * 68)
        assert second is not None
        assert not t.step()
        assert victim.load is None
        assert victim.looks_again
        t.cache.release(hog)
        t.cache.release(second)
        t.rig.drained()
        t.finish()
        assert t.offload.loaded == {"disk": 32}


def test_a_preempted_sequence_waits_for_its_load_no_longer_than_on_arrival() -> None:
    with twin(blocks=26, step_tokens=16) as t:
        victim = t.add(prompt_of(65))
        t.loaded(victim)
        for _ in range(2):
            assert t.step()
        t.scheduler._preempt(victim)
        t.forget_pool()
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["get"] = lambda: (held.set(), go.wait(WAIT))
        t.offload.prefilled(100, 100.0)  # a token takes a second
        assert not t.step()
        assert held.wait(WAIT)
        t.rig.clock.now += 0.8 * 32 - 0.1
        assert not t.step()
        t.rig.clock.now += 0.2
        assert t.step()
        t.finish()
        assert account(victim) == (0, {})
        go.set()


def test_in_deterministic_mode_a_preempted_sequence_takes_only_its_prompt_from_a_tier() -> None:
    """Another request has computed what it generated, but in other steps."""
    with twin(fixed=8, chunk_blocks=2) as t:
        victim = t.add(prompt_of(20), max_tokens=30)
        t.loaded(victim)
        while victim.generated < 25:
            assert t.step()
        t.run([*victim.tokens])
        t.scheduler._preempt(victim)
        t.forget_pool()
        t.finish()
        assert victim.loaded == {"disk": 16}


def test_many_that_grow_in_a_small_pool_are_preempted_and_come_out_right() -> None:
    with twin("ram", blocks=40) as t:
        for _ in range(2):
            prompts = [prompt_of(30, seed) for seed in range(8)]
            for prompt in prompts:
                t.loaded(t.add(prompt, max_tokens=40))
            t.finish()
            t.rig.drained()
        assert t.scheduler.counters.preemptions > 0
        assert t.offload.loaded["ram"] > 0


def test_generated_tokens_go_down_too_and_the_next_turn_finds_them() -> None:
    with twin() as t:
        first = t.run(prompt_of(20), max_tokens=45)
        t.forget_pool()
        turn = [*first.tokens, 5, 6, 7]
        assert account(t.run(turn)) == (64, {"disk": 64})


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant": "b"},
        {"salt": "s"},
        {"salt": ""},
        {"adapter": b"x" * 32},
        {"weights": b"v" * 32},
        {"dtype": "bfloat16"},
        {"layout": "other"},
        {"rope": "other"},
    ],
    ids=str,
)
def test_another_namespace_gets_nothing_and_the_same_one_does(changes: dict[str, Any]) -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        assert account(t.run(prompt, **changes)) == (0, {})
        t.forget_pool()
        assert account(t.run(prompt)) == (64, {"disk": 64})


@pytest.mark.parametrize("changes", [{"weights": b""}, {"adapter": b""}], ids=str)
def test_what_has_no_digest_is_neither_stored_nor_looked_for(changes: dict[str, Any]) -> None:
    with twin() as t:
        for _ in range(2):
            t.run(prompt_of(65), **changes)
            t.forget_pool()
        assert t.rig.store["disk"].seen == []


def test_selective_a_chunk_goes_down_when_it_is_reused_for_the_first_time() -> None:
    with twin(write="selective") as t:
        puts = t.rig.store["disk"].seen
        prompt = prompt_of(65)
        t.run(prompt)
        t.rig.drained()
        assert puts.count("put") == 0
        t.run([*prompt[:36], *prompt_of(20, seed=1)])
        t.rig.drained()
        assert puts.count("put") == 4
        for _ in range(3):
            t.run(prompt)
        t.rig.drained()
        assert puts.count("put") == 8
        t.forget_pool()
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_selective_what_did_not_fit_into_the_queue_is_tried_again_at_the_next_reuse() -> None:
    with twin(write="selective") as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.rig.fill()
        t.run(prompt)
        t.rig.empty()
        assert t.rig.events() == {"disk_dropped": 8}
        t.run(prompt)
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 8


def test_what_finds_no_room_goes_down_as_soon_as_there_is_some_and_nothing_is_lost() -> None:
    with twin(step_tokens=16) as t:
        sequence = t.add(prompt_of(65))
        t.loaded(sequence)
        assert t.step()
        t.rig.drained()
        t.rig.fill()
        assert t.step()
        t.rig.empty()
        assert t.rig.counts("disk")["stored"] == 2
        while sequence not in t.done:
            assert t.step()
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 8
        assert t.rig.events() == {"disk_queued": 8}


def test_what_found_no_room_to_its_end_goes_down_when_it_is_used_next() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.rig.fill()
        t.run(prompt)
        t.rig.empty()
        assert t.rig.events() == {"disk_dropped": 8}
        t.run(prompt[:41])
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 5
        t.run(prompt)
        t.crash()
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_what_a_tier_gave_up_goes_down_again_once_it_is_computed_again() -> None:
    with twin("ram", arena=8 * 2 * PAGE) as t:  # Eight chunks: one prompt.
        first, second = prompt_of(65), prompt_of(65, 1)
        for prompt in (first, second, first):
            assert account(t.run(prompt)) == (0, {})
            t.forget_pool()
        assert account(t.run(first)) == (64, {"ram": 64})


@pytest.mark.parametrize("write", ["through", "selective"])
def test_what_a_tier_declines_is_offered_again_at_its_next_use(write: Any) -> None:
    with twin("ram", "disk", write=write) as t:
        prompt = prompt_of(65)
        t.rig.store["disk"].error = Full("no room")
        for _ in range(2):
            t.run(prompt)
        t.rig.drained()
        assert t.rig.counts("ram")["stored"] == 8
        assert "stored" not in t.rig.counts("disk")
        t.rig.store["disk"].error = None
        t.rig.clock.now += 1.0
        for _ in range(2):  # The first chunk alone, to see whether it is taken; then all.
            t.run(prompt)
            t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 8
        assert t.rig.counts("ram")["stored"] == 8


def test_what_a_tier_declined_is_offered_again_when_it_comes_up_from_a_nearer_one() -> None:
    with twin("ram", "disk") as t:
        prompt = prompt_of(65)
        t.rig.store["disk"].error = Full("no room")
        t.run(prompt)
        t.forget_pool()
        assert t.rig.counts("ram")["stored"] == 8
        t.rig.store["disk"].error = None
        t.rig.clock.now += 1.0
        for _ in range(2):  # The first chunk alone, to see whether it is taken; then all.
            assert account(t.run(prompt)) == (64, {"ram": 64})
            t.forget_pool()
        assert t.rig.counts("disk")["stored"] == 8


def test_a_chunk_behind_one_that_was_declined_is_declined_too_and_comes_after_it() -> None:
    with twin(step_tokens=16) as t:
        puts: list[int] = []
        store = t.rig.store["disk"]

        def third_fails() -> None:
            puts.append(len(puts))
            store.error = Unavailable("gone") if len(puts) == 3 else None

        store.hooks["put"] = third_fails
        prompt = prompt_of(65)
        t.run(prompt)
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 2
        assert len(puts) == 3
        t.rig.clock.now += 1.0
        t.run(prompt)
        t.rig.drained()
        t.run(prompt)
        t.crash()
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_what_was_declined_in_the_middle_is_offered_again_while_its_request_still_runs() -> None:
    with twin(step_tokens=16) as t:
        puts: list[int] = []
        store = t.rig.store["disk"]

        def third_fails() -> None:
            puts.append(len(puts))
            store.error = Unavailable("gone") if len(puts) == 3 else None

        store.hooks["put"] = third_fails
        sequence = t.add(prompt_of(65))
        t.loaded(sequence)
        while sequence not in t.done:
            assert t.step()
            t.rig.drained()
            t.rig.clock.now += 1.0
        assert t.rig.counts("disk")["stored"] == 8


def test_a_tier_that_keeps_up_gets_what_another_has_no_room_for() -> None:
    with twin("ram", "disk") as t:
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["put"] = lambda: (held.set(), go.wait(WAIT))
        t.rig.tier["disk"].write.took(5.0, 3 * t.offload.tiers.chunk_bytes, 0.0)
        prompt = prompt_of(65)
        t.run(prompt)
        assert held.wait(WAIT)
        t.rig.until(lambda: t.rig.counts("ram").get("stored", 0) == 8)
        assert t.rig.events()["disk_dropped"] == 6
        assert "ram_dropped" not in t.rig.events()
        go.set()


def test_a_tier_is_remembered_to_have_no_more_chunks_than_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake_module, "KNOWN", 6)
    with twin(write="selective") as t:
        for _ in range(4):
            t.run(prompt_of(65))
            t.rig.drained()
        assert len(t.rig.tiers.writers[0]._intake._known) == 6
        assert t.rig.counts("disk")["stored"] == 8


def test_what_came_up_is_not_sent_down_again() -> None:
    with twin() as t:
        t.run(prompt_of(64))
        t.forget_pool()
        puts = t.rig.store["disk"].seen.count("put")
        t.run(prompt_of(64))
        t.rig.drained()
        assert t.rig.store["disk"].seen.count("put") == puts


def test_the_cost_of_computing_is_learned_from_steps_of_prefill_only() -> None:
    with twin() as t:
        t.offload.prefilled(4, 1000.0)
        assert t.offload._seconds_per_token is None
        t.offload.prefilled(100, 100.0)
        assert t.offload._seconds_per_token == 1.0
        t.offload.prefilled(100, 200.0)
        assert t.offload._seconds_per_token == pytest.approx(1.2)


def test_a_chunk_that_is_mostly_in_the_pool_is_waited_for_as_little_as_it_saves() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt[:9])
        t.forget_pool()
        t.offload.prefilled(100, 100.0)
        t.run(prompt[:4])  # one of the chunk's two blocks
        sequence = t.add(prompt[:9])
        assert sequence.load is not None
        assert sequence.load.deadline <= t.rig.clock.now + 0.8 * 4 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "shape",
    [
        {"block_size": 4},
        {"block_size": 1, "chunk_blocks": 8, "blocks": 200},
        {"block_size": 4, "fixed": 8, "chunk_blocks": 2},
        {"block_size": 4, "write": "selective"},
        {"block_size": 4, "fixed": 8, "chunk_blocks": 4, "write": "selective"},
        {"block_size": 4, "write": "back"},
        {"block_size": 1, "chunk_blocks": 8, "blocks": 200, "write": "back", "ttl": 20.0},
        {"block_size": 4, "fixed": 8, "chunk_blocks": 4, "write": "back"},
    ],
    ids=str,
)
def test_whatever_happens_no_sequence_ever_uses_kv_that_is_not_its_own(
    seed: int, shape: dict[str, Any]
) -> None:
    """A small pool over a small and a larger tier that fail, forget and are slow at random."""
    draw = random.Random(seed)
    with twin("ram", "disk", **{"blocks": 50, "arena": 200_000, "step_tokens": 24, **shape}) as t:
        stems = [prompt_of(60, stem) for stem in range(4)]
        live: list[Sequence] = []
        for _ in range(500):
            match draw.choices(
                ["add", "step", "leave", "reset", "fault", "forget", "crash", "pace", "flush"],
                [30, 100, 6, 1, 8, 1, 1, 4, 1],
            )[0]:
                case "add" if len(t.scheduler.waiting) < 8:
                    stem = draw.choice(stems)[: draw.randrange(1, 61)]
                    prompt = stem + [draw.randrange(100) for _ in range(draw.randrange(12))]
                    tenant = draw.choice("aab")
                    live.append(t.add(prompt, max_tokens=draw.choice([1, 2, 30]), tenant=tenant))
                    if draw.random() < 0.8:
                        t.loaded(live[-1])
                case "step":
                    t.rig.clock.now += 0.05 if t.step() else 0.5
                case "leave" if waiting := [s for s in live if s not in t.done]:
                    t.drop(draw.choice(waiting))
                case "reset":
                    t.cache.reset()
                case "fault":
                    store = t.rig.store[draw.choice(["ram", "disk"])]
                    store.error = draw.choice([*[None] * 5, Unavailable("gone"), Full("no room")])
                    t.rig.clock.now += draw.choice([0.0, 11.0, 301.0])
                case "forget" if not t.scheduler.running:
                    t.forget_pool()
                case "crash" if not t.scheduler.running:
                    t.crash()
                case "pace":  # from a queue for two chunks to one for many
                    pace = t.rig.tier[draw.choice(["ram", "disk"])].write
                    pace._per_unit = 5 / (t.rig.tiers.chunk_bytes * draw.choice([2, 10, 10_000]))
                case "flush" if not t.scheduler.running:
                    t.offload._flush(t.rig.clock.now + WAIT)
        while t.scheduler.waiting or t.scheduler.running:
            if not t.step():
                t.rig.clock.now += 1.0
        # What came up until now hung on how threads took turns. Tiers that work bring something.
        for store in t.rig.store.values():
            store.error = None
        t.rig.clock.now += 301.0
        for _ in range(4):
            t.run(stems[0])
            t.offload._flush(t.rig.clock.now + WAIT)
            t.forget_pool()
        assert t.offload.loaded.total() > 0
        for sequence in live:
            if sequence.group.reuse is not None:
                account(sequence)
        assert t.cache.leased == 0
        t.rig.until(lambda: t.rig.tiers._held.bytes == 0)
