"""What the tiers do together. Computing a chunk takes 1 s on a clock that only calls move."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.stores.build import NEVER, SPACE, chain
from tests.stores.tiering import LONG, SIZE, places, rig

from headstart.cache.keys import BlockKey
from headstart.stores import Record, State
from headstart.stores.errors import Unavailable
from headstart.stores.held import Held
from headstart.stores.pace import PROBE_AFTER
from headstart.stores.tiers import GAIN, READERS, STALL, STALL_AT_LEAST

FIVE = chain(5)


def test_what_is_stored_goes_to_every_tier_and_comes_up_from_the_nearest() -> None:
    with rig("near", "far") as r:
        r.store_all(FIVE)
        chunks, short = r.load(FIVE)
        assert [bytes(each.payload) for each in chunks] == [bytes(one.payload) for one in FIVE]
        assert places(chunks) == [(index, "near") for index in range(5)]
        assert not short
        assert "get" not in r.store["far"].seen
        assert r.events() == {"near_queued": 5, "far_queued": 5, "loaded": 5}


def test_each_leading_chunk_comes_from_whoever_has_it_up_to_the_first_that_nobody_has() -> None:
    with rig("near", "far") as r:
        r.put("near", [FIVE[0], FIVE[2]])
        r.put("far", [FIVE[1], FIVE[4]])
        chunks, short = r.load(FIVE, first=7)
        assert places(chunks) == [(7, "near"), (8, "far"), (9, "near")]
        assert not short


def test_a_far_tier_is_not_asked_for_what_the_near_one_has() -> None:
    with rig("near", "far") as r:
        r.put("near", FIVE)
        r.load(FIVE)
        assert r.store["far"].seen == []


def test_what_comes_from_afar_is_kept_nearby_without_keeping_anybody_waiting() -> None:
    with rig("near", "far") as r:
        r.put("far", FIVE)
        go = threading.Event()
        r.store["near"].hooks["put"] = lambda: assert_true(go.wait(LONG))
        chunks, _ = r.load(FIVE)
        assert places(chunks) == [(index, "far") for index in range(5)]
        go.set()
        r.drained()
        assert "put" not in r.store["far"].seen
        assert places(r.load(FIVE)[0]) == [(index, "near") for index in range(5)]


def test_nothing_there_ends_at_once_and_falls_short_of_nothing() -> None:
    with rig("near", "far") as r:
        assert r.load(FIVE) == ([], False)
        assert r.events() == {}


def test_a_broken_promise_ends_the_load_there_and_is_told() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        r.store["near"].hooks["get"] = fail_at(3)
        chunks, short = r.load(FIVE)
        assert places(chunks) == [(0, "near"), (1, "near")]
        assert short
        assert r.events() == {"loaded": 2, "late": 3}


def test_a_chunk_of_another_size_is_not_used() -> None:
    with rig("near", chunk_bytes=SIZE + 1) as r:
        r.put("near", FIVE)
        assert r.load(FIVE) == ([], True)
        assert r.events() == {"other_size": 1, "late": 5}


def test_a_load_takes_no_more_than_its_share_of_computing_what_was_promised() -> None:
    """0.7 s a chunk is faster than computing; but the first two take longer than expected."""
    with rig("near") as r:
        r.put("near", FIVE)
        times = iter([1.9, 1.9, 0.7, 0.7, 0.7])
        r.tier["near"].read.took(0.1, SIZE, r.clock.now)
        r.store["near"].hooks["get"] = lambda: r.move(next(times))
        begun = r.clock.now
        chunks, short = r.load(FIVE, worth=1.0)
        assert short
        assert len(chunks) < 5
        assert r.clock.now - begun <= GAIN * 5 + 1.9


def test_one_chunk_is_given_a_few_times_its_share_and_not_all_the_time_there_is() -> None:
    """A hundred promised chunks give the load 80 s; the first one may take 3.2 s of them."""
    records = chain(100, size=100)
    with rig("near", chunk_bytes=100) as r:
        r.put("near", records)
        given: list[float] = []
        get = r.store["near"].store.get

        def watched(*args: Any, deadline: float, **options: Any) -> Record | None:
            given.append(deadline - r.clock.now)
            return get(*args, deadline=deadline, **options)

        r.store["near"].store.get = watched  # type: ignore[method-assign]
        r.load(records, worth=1.0)
        assert given[0] == pytest.approx(STALL * GAIN)
        given.clear()
        r.load(records, worth=0.001)
        assert given[0] == pytest.approx(STALL_AT_LEAST)


def test_the_deadline_follows_what_is_there_not_what_was_asked_for() -> None:
    with rig("near") as r:
        r.put("near", FIVE[:1])
        held, go = threading.Event(), threading.Event()
        r.store["near"].hooks["get"] = lambda: (held.set(), assert_true(go.wait(LONG)))
        begun = r.clock.now
        load = r.tiers.load(
            SPACE, [one.key for one in FIVE], first=0, worth=1.0, settled=lambda: None
        )
        assert load is not None
        assert held.wait(LONG)
        assert load.pending(begun + GAIN - 0.01)
        assert not load.pending(begun + GAIN)
        go.set()


def test_a_tier_that_turns_out_too_slow_is_left_after_one_chunk_and_not_asked_again() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        r.takes("near", "get", 0.9)
        begun = r.clock.now
        chunks, short = r.load(FIVE)
        assert (len(chunks), short) == (1, True)
        assert r.clock.now == begun + 0.9
        seen = len(r.store["near"].seen)
        for _ in range(10):
            assert r.load(FIVE) == ([], False)
        assert len(r.store["near"].seen) == seen
        assert r.clock.now == begun + 0.9
        assert r.events()["near_too_slow"] == 10


def test_what_is_too_slow_for_one_prompt_is_fast_enough_for_a_dearer_one() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        r.takes("near", "get", 0.9)
        r.load(FIVE)
        assert len(r.load(FIVE, worth=2.0)[0]) == 5


def test_a_tier_that_was_too_slow_is_tried_with_one_chunk_after_30_s_and_used_again() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        r.takes("near", "get", 0.9)
        r.load(FIVE)
        r.clock.now += PROBE_AFTER + 1
        begun = r.clock.now
        assert len(r.load(FIVE)[0]) == 1
        assert r.clock.now - begun == pytest.approx(0.9)
        r.takes("near", "get", 0.001)
        r.clock.now += PROBE_AFTER + 1
        assert len(r.load(FIVE)[0]) == 5


def test_a_slow_miss_teaches_and_a_quick_one_does_not() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        r.tier["near"].read.took(0.5, SIZE, r.clock.now)
        r.store["near"].error = Unavailable("gone")
        r.store["near"].hooks["look"] = lambda: setattr(r.store["near"], "error", None)
        r.store["near"].hooks["get"] = lambda: setattr(
            r.store["near"], "error", Unavailable("gone")
        )
        assert r.load(FIVE) == ([], True)
        assert r.tier["near"].read.seconds(SIZE) == 0.5
        r.takes("near", "get", 3.0)
        r.store["near"].store.delete(SPACE, FIVE[0].key, deadline=NEVER)
        r.store["near"].error = None
        with_promise = r.load(FIVE[1:])
        assert with_promise[1]
        assert r.tier["near"].read.seconds(SIZE) > 0.5


def test_asking_a_tier_that_is_slow_to_say_what_it_has_is_given_up_too() -> None:
    """0.3 s is in time for every deadline, but nothing comes of it that could be worth it."""
    with rig("near", "far") as r:
        r.put("near", FIVE[:1])
        r.takes("far", "look", 0.3)
        begun = r.clock.now
        for _ in range(10):
            assert len(r.load(FIVE[:2])[0]) == 1
        assert r.clock.now - begun == pytest.approx(0.3)
        assert r.events()["far_too_slow"] == 9
        assert r.tier["far"].store.state is State.CLOSED
        assert r.load(FIVE[:2], worth=10.0)[1] is False
        assert r.store["far"].seen == ["look", "look"]


def test_a_tier_that_fails_is_left_alone_and_the_others_go_on() -> None:
    with rig("near", "far") as r:
        r.put("far", FIVE)
        r.store["near"].error = Unavailable("gone")
        for _ in range(20):
            assert len(r.load(FIVE)[0]) == 5
        r.drained()
        assert r.tier["near"].store.state is State.OPEN
        assert r.tier["far"].store.state is State.CLOSED
        assert [stats.state for stats in r.tiers.stats()[0]] == ["open", "closed"]
        r.store["near"].error = None
        r.clock.now += 10
        r.load(FIVE)
        assert r.tier["near"].store.state is State.CLOSED


def test_while_a_call_hangs_beyond_every_deadline_nobody_else_is_sent_there() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        hung, go = threading.Event(), threading.Event()
        r.store["near"].hooks["get"] = lambda: (hung.set(), assert_true(go.wait(LONG)))
        keys = [one.key for one in FIVE]
        load = r.tiers.load(SPACE, keys, first=0, worth=1.0, settled=lambda: None)
        assert load is not None
        assert hung.wait(LONG)
        assert r.tiers.load(SPACE, keys, first=0, worth=1.0, settled=lambda: None) is not None
        r.clock.now += 60
        assert not load.pending(r.clock.now)
        assert r.tiers.load(SPACE, keys, first=0, worth=1.0, settled=lambda: None) is None
        assert r.events()["hanging"] == 1
        go.set()
        del r.store["near"].hooks["get"]
        r.until(lambda: not r.tier["near"].hanging(r.clock.now))
        r.clock.now += PROBE_AFTER + 1
        assert len(r.load(FIVE)[0]) >= 1


def test_one_tier_that_hangs_does_not_keep_the_others_from_being_read() -> None:
    with rig("near", "far") as r:
        r.put("far", FIVE)
        hung, go = threading.Event(), threading.Event()
        r.store["near"].hooks["look"] = lambda: (hung.set(), assert_true(go.wait(LONG)))
        keys = [one.key for one in FIVE]
        r.tiers.load(SPACE, keys, first=0, worth=1.0, settled=lambda: None)
        assert hung.wait(LONG)
        r.clock.now += 60
        assert places(r.load(FIVE)[0]) == [(index, "far") for index in range(5)]
        go.set()


def test_a_load_that_nobody_wants_any_more_stops_reading() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        held, go, over = threading.Event(), threading.Event(), threading.Event()
        r.store["near"].hooks["get"] = lambda: (held.set(), assert_true(go.wait(LONG)))
        keys = [one.key for one in FIVE]
        load = r.tiers.load(SPACE, keys, first=0, worth=1.0, settled=over.set)
        assert load is not None
        assert held.wait(LONG)
        assert load.take() == ([], True)
        go.set()
        assert over.wait(LONG)
        assert r.store["near"].seen.count("get") == 1
        assert load.take()[0] == []
        r.until(lambda: r.tiers._held.bytes == 0)


def test_equal_prompts_at_once_read_every_chunk_once_and_share_its_memory() -> None:
    with rig("near") as r:
        r.put("near", FIVE)
        go = threading.Event()
        r.store["near"].hooks["get"] = lambda: assert_true(go.wait(LONG))
        over = [threading.Event() for _ in range(8)]
        keys = [one.key for one in FIVE]
        loads = [
            r.tiers.load(SPACE, keys, first=0, worth=100.0, settled=event.set) for event in over
        ]
        go.set()
        assert all(event.wait(LONG) for event in over)
        taken = [load.take()[0] for load in loads if load is not None]
        assert [len(chunks) for chunks in taken] == [5] * 8
        assert r.store["near"].seen.count("get") == 5
        assert len({id(chunks[0].payload) for chunks in taken}) == 1
        assert r.tiers._held.bytes == 5 * SIZE
        taken.clear()
        loads.clear()
        r.until(lambda: r.tiers._held.bytes == 0)


def test_loads_that_are_not_fetched_hold_no_more_memory_than_allowed() -> None:
    with rig("near") as r:
        r.tiers._held = Held(3 * SIZE)
        r.put("near", FIVE)
        keys = [one.key for one in FIVE]
        over = threading.Event()
        load = r.tiers.load(SPACE, keys, first=0, worth=0.06, settled=over.set)
        assert load is not None
        assert over.wait(LONG)
        assert r.tiers._held.bytes == 3 * SIZE
        chunks, short = load.take()
        assert ([each.index for each in chunks], short) == ([0, 1, 2], True)


def test_closing_writes_what_is_queued_first() -> None:
    with rig("near") as r:
        r.store_all(FIVE, wait=False)
        r.tiers.close(LONG)
        assert r.tiers.stats()[0][0].store.chunks == 5


def test_closing_waits_no_longer_than_told_and_writes_nothing_after() -> None:
    with rig("near") as r:
        go = threading.Event()
        r.store["near"].hooks["put"] = lambda: assert_true(go.wait(LONG))
        r.store_all(FIVE, wait=False)
        begun = time.monotonic()
        r.tiers.close(0.05)
        assert time.monotonic() - begun < 5
        go.set()
        r.tiers.writers[0]._thread.join(LONG)
        assert r.store["near"].seen.count("put") == 1


def test_a_mistake_in_here_ends_the_load_and_not_its_reader(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with rig("near") as r, caplog.at_level(logging.ERROR):
        r.put("near", FIVE)

        def broken(*_: object) -> BlockKey:
            raise ZeroDivisionError

        good, r.tiers._where = r.tiers._where, broken  # type: ignore[assignment,method-assign]
        for _ in range(READERS + 1):
            assert r.load(FIVE) == ([], False)
        r.tiers._where = good  # type: ignore[method-assign]
        assert len(r.load(FIVE)[0]) == 5
        assert "a load failed" in caplog.text


def fail_at(call: int) -> Callable[[], None]:
    """Raises at its nth call."""
    calls = iter(range(1, 100))

    def hook() -> None:
        if next(calls) >= call:
            raise Unavailable("gone")

    return hook


def assert_true(condition: bool) -> None:
    assert condition
