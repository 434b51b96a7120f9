"""KV that goes down when it leaves the pool. Blocks of 4 tokens, chunks of 8."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.engine.offload_twin import WAIT, Twin, prompt_of

from headstart.engine import offload as offload_module
from headstart.engine.sequence import Sequence
from headstart.stores.errors import Full, Unavailable


@contextmanager
def twin(*names: str, **fields: Any) -> Iterator[Twin]:
    made = Twin(*(names or ("disk",)), **{"write": "back", **fields})
    try:
        yield made
    finally:
        made.close()


def account(sequence: Sequence) -> tuple[int, dict[str, int]]:
    reuse = sequence.group.reuse
    assert reuse is not None
    return reuse.cached_tokens, dict(reuse.loaded)


def ended(t: Twin) -> None:
    """The process ends, and another one begins with the same tiers."""
    t.offload._flush(t.rig.clock.now + WAIT)
    t.rig.drained()
    t.crash()


def test_nothing_goes_down_as_long_as_it_stays_in_the_pool() -> None:
    with twin() as t:
        for _ in range(3):
            t.run(prompt_of(65), max_tokens=20)
        t.rig.drained()
        assert "put" not in t.rig.store["disk"].seen


def test_what_leaves_the_pool_goes_down_and_comes_up_again_whole() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.forget_pool()
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_what_a_small_pool_gives_up_block_by_block_is_all_there() -> None:
    """Every block is overwritten right after; what went down must be what was there before."""
    with twin("ram", blocks=12) as t:
        prompts = [prompt_of(33, seed) for seed in range(6)]
        for prompt in prompts:
            t.run(prompt)
        t.rig.drained()
        for prompt in prompts:
            assert account(t.run(prompt))[0] >= 28
            t.rig.drained()


@pytest.mark.parametrize(("block_size", "chunk_blocks"), [(1, 8), (1, 1), (16, 1), (4, 8)])
def test_chunks_of_every_shape_leave_whole(block_size: int, chunk_blocks: int) -> None:
    chunk = block_size * chunk_blocks
    with twin(block_size=block_size, chunk_blocks=chunk_blocks, blocks=64, step_tokens=4000) as t:
        prompt = prompt_of(2 * chunk - 1)
        t.run([*prompt, 7, 8])
        t.run([*prompt, 8, 9])  # an edge that is split inside the second chunk
        t.forget_pool()
        assert account(t.run([*prompt, 8, 9]))[0] == 2 * chunk
        t.forget_pool()
        assert account(t.run([*prompt, 7, 8]))[0] == 2 * chunk


def test_a_chunk_over_two_edges_goes_down_for_each_of_their_ends() -> None:
    with twin() as t:
        stem = prompt_of(12)  # a chunk and a half
        for branch in (1, 2):
            t.run([*stem, branch, branch, branch, branch, 9])
        t.forget_pool()
        for branch in (1, 2):
            again = t.run([*stem, branch, branch, branch, branch, 9])
            assert account(again)[0] == 16
        assert t.rig.counts("disk")["stored"] == 3


def test_what_expires_goes_down_too() -> None:
    with twin(ttl=10.0) as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.rig.clock.now += 11
        t.run(prompt_of(9, seed=1))
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 8
        assert account(t.run(prompt)) == (64, {"disk": 64})


def test_what_a_reset_forgets_does_not_go_down() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        running = t.add(prompt_of(30, seed=1), max_tokens=9)
        t.loaded(running)
        assert t.step()
        t.cache.reset()
        t.finish()
        ended(t)
        assert "put" not in t.rig.store["disk"].seen
        assert account(t.run(prompt)) == (0, {})


def test_a_crash_before_it_went_down_is_a_miss_and_nothing_worse() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.crash()
        assert account(t.run(prompt)) == (0, {})


def test_a_crash_when_only_the_end_had_left_is_a_miss_and_nothing_worse() -> None:
    with twin() as t:
        prompt = prompt_of(65)
        t.run(prompt)
        t.cache.trim(8)
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 4
        t.crash()
        assert account(t.run(prompt)) == (0, {})


def test_what_is_in_the_pool_at_the_end_goes_down_too() -> None:
    with twin() as t:
        prompts = [prompt_of(65, seed) for seed in range(3)]
        for prompt in prompts:
            t.run(prompt)
        ended(t)
        for prompt in prompts:
            assert account(t.run(prompt)) == (64, {"disk": 64})


def test_at_the_end_what_was_used_last_goes_first_and_parents_before_children() -> None:
    with twin(blocks=100) as t:
        stem = prompt_of(16)
        for seed, now in ((1, 1.0), (3, 2.0), (2, 3.0)):
            t.rig.clock.now = now
            t.run(stem + prompt_of(17, seed))
        firsts: list[tuple[int, int]] = []
        put = t.rig.store["disk"].store.put

        def watched(record: Any, *, deadline: float) -> bool:
            token = int.from_bytes(record.tokens[:4], "little")
            firsts.append((record.first_position, token if record.first_position >= 16 else 0))
            return put(record, deadline=deadline)

        t.rig.store["disk"].store.put = watched  # type: ignore[method-assign]
        ended(t)
        assert firsts[:3] == [(0, 0), (8, 0), (16, 1002)]
        assert [token for at, token in firsts if at == 16] == [1002, 1003, 1001]
        assert [at for at, _ in firsts] == [0, 8, 16, 24, 16, 24, 16, 24]


def test_the_end_does_not_write_to_what_ends_with_the_process() -> None:
    with twin("ram", "disk") as t:
        t.rig.tier["ram"].lasting = False
        t.run(prompt_of(65))
        ended(t)
        assert "put" not in t.rig.store["ram"].seen
        assert t.rig.counts("disk")["stored"] == 8


def test_at_the_end_a_tier_that_lags_does_not_hold_back_another_and_gets_all_it_can() -> None:
    with twin("disk", "remote") as t:
        size = t.offload.tiers.chunk_bytes
        t.run(prompt_of(65))
        held, go = threading.Event(), threading.Event()
        disk, remote = t.rig.store["disk"], t.rig.store["remote"]
        remote.hooks["put"] = lambda: (held.set(), go.wait(WAIT))
        for tier in t.rig.tier.values():
            tier.write.took(5.0, size, 0.0)
        disk.hooks["put"] = lambda: go.set() if disk.seen.count("put") == 8 else None
        t.offload._flush(t.rig.clock.now + WAIT)
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == t.rig.counts("remote")["stored"] == 8


def test_at_the_end_nothing_goes_down_behind_what_a_tier_declines() -> None:
    with twin() as t:
        store = t.rig.store["disk"]

        def third_fails() -> None:
            store.error = Unavailable("gone") if store.seen.count("put") == 3 else None

        store.hooks["put"] = third_fails
        t.run(prompt_of(65))
        t.offload._flush(t.rig.clock.now + WAIT)
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 2
        assert store.seen.count("put") == 3


def test_the_end_waits_for_room_in_the_queue() -> None:
    with twin() as t:
        t.rig.tier["disk"].write.took(5.0, 2 * t.offload.tiers.chunk_bytes, 0.0)
        t.run(prompt_of(65))
        t.offload.close(WAIT, flush=True)
        assert t.rig.counts("disk")["stored"] == 8


def test_the_end_takes_no_longer_than_told_when_a_tier_hangs() -> None:
    with twin() as t:
        t.rig.tier["disk"].write.took(5.0, t.offload.tiers.chunk_bytes, 0.0)
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["put"] = lambda: (held.set(), go.wait(WAIT))
        t.run(prompt_of(65))
        ends = threading.Thread(target=t.offload.close, args=(30.0,), kwargs={"flush": True})
        ends.start()
        assert held.wait(WAIT)
        t.rig.clock.now += 31
        ends.join(WAIT)
        assert not ends.is_alive()
        go.set()


@pytest.mark.parametrize("error", [Full("no room"), Unavailable("gone")])
def test_the_end_does_not_wait_for_a_tier_that_declines(error: Exception) -> None:
    with twin() as t:
        t.rig.tier["disk"].write.took(5.0, t.offload.tiers.chunk_bytes, 0.0)
        t.rig.store["disk"].error = error
        t.run(prompt_of(65))
        begun = t.rig.clock.now
        t.offload.close(1e9, flush=True)
        assert t.rig.clock.now == begun


def test_kv_that_can_not_be_trusted_is_not_written_at_the_end() -> None:
    with twin() as t:
        t.run(prompt_of(65))
        t.offload.close(WAIT, flush=False)
        assert "put" not in t.rig.store["disk"].seen


def test_what_one_that_went_down_needs_finds_room_where_others_do_not() -> None:
    with twin() as t:
        prompt, other = prompt_of(65), prompt_of(65, seed=1)
        t.run(prompt)
        t.cache.trim(14)  # Its last chunk has gone down.
        t.rig.drained()
        assert t.rig.counts("disk")["stored"] == 1
        t.run(other)
        size = t.offload.tiers.chunk_bytes
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["put"] = lambda: (held.set(), go.wait(WAIT))
        t.rig.tier["disk"].write._per_unit = 5.0 / (10 * size)
        t.cache.trim(0)  # Seven chunks that are owed, and eight of which the first five fit.
        go.set()
        t.rig.store["disk"].hooks.clear()
        t.rig.drained()
        t.crash()
        assert account(t.run(prompt))[0] == 64
        assert t.rig.events()["disk_dropped"] >= 5


def test_when_too_much_leaves_the_ends_are_dropped_and_what_is_kept_can_be_used() -> None:
    with twin(blocks=200) as t:
        prompts = [prompt_of(65, seed) for seed in range(8)]
        for prompt in prompts:
            t.run(prompt)
        size = t.offload.tiers.chunk_bytes
        t.rig.tier["disk"].write._per_unit = 5.0 / (20 * size)
        held, go = threading.Event(), threading.Event()
        t.rig.store["disk"].hooks["put"] = lambda: (held.set(), go.wait(WAIT))
        t.cache.trim(0)
        go.set()
        t.rig.drained()
        events = t.rig.events()
        assert events["disk_queued"] + events["disk_dropped"] == 64
        assert 10 <= events["disk_queued"] <= 20
        t.crash()
        came_up = sum(account(t.run(prompt))[0] for prompt in prompts)
        assert came_up == 8 * events["disk_queued"]


def test_what_is_owed_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload_module, "OWED", 3)
    with twin(blocks=200) as t:
        for seed in range(8):
            t.run(prompt_of(65, seed))
        for cached in range(100, 0, -1):
            t.cache.trim(cached)
        assert len(t.offload._owed) <= 3


def test_what_has_no_digest_is_not_sent_down() -> None:
    with twin() as t:
        t.run(prompt_of(65), weights=b"")
        t.forget_pool()
        t.run(prompt_of(65), weights=b"")
        ended(t)
        assert t.rig.store["disk"].seen == []
        assert t.rig.events() == {}
