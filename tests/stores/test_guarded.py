import logging

import pytest
from tests.stores.build import NEVER, SPACE, Clock, chunk
from tests.stores.faults import FaultyStore

from headstart.stores import Breaker, Guarded, RamStore, State
from headstart.stores.errors import CodecMissing, Late, Refused, Unavailable, Unfit

RECORD = chunk()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def faulty(clock: Clock) -> FaultyStore:
    store = RamStore(memoryview(bytearray(1 << 20)), clock=clock)
    assert store.put(RECORD, deadline=NEVER)
    return FaultyStore(store)


@pytest.fixture
def guarded(faulty: FaultyStore, clock: Clock) -> Guarded:
    return Guarded("test", faulty, Breaker(), clock=clock)


def hit(store: Guarded, deadline: float = NEVER) -> bool:
    return store.get(SPACE, RECORD.key, deadline=deadline) == RECORD


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Late("x"), "late"),
        (Unavailable("x"), "unavailable"),
        (Refused("LOADING x"), "refused"),
        (OSError("x"), "error"),
        (ZeroDivisionError("x"), "error"),
        (MemoryError("x"), "error"),
    ],
)
def test_every_error_is_a_miss_and_counted(
    guarded: Guarded, faulty: FaultyStore, error: Exception, reason: str
) -> None:
    faulty.error = error
    assert guarded.get(SPACE, RECORD.key, deadline=NEVER) is None
    assert guarded.contains_many(SPACE, [RECORD.key] * 3, deadline=NEVER) == [False] * 3
    assert guarded.put(RECORD, deadline=NEVER) is False
    guarded.delete(SPACE, RECORD.key, deadline=NEVER)
    assert guarded.stats().counts[reason] == 4


def test_a_failing_store_is_left_alone_and_used_again_when_it_has_recovered(
    guarded: Guarded, faulty: FaultyStore, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    faulty.error = Unavailable("gone")
    with caplog.at_level(logging.WARNING):
        for _ in range(50):
            assert not hit(guarded)
    assert faulty.calls == 5
    assert guarded.state is State.OPEN
    assert guarded.stats().counts["breaker_open"] == 45
    faulty.error = None
    clock.now += 10
    assert hit(guarded)
    assert guarded.state is State.CLOSED
    assert [record.message for record in caplog.records] == [
        "the test store is left alone for a while: unavailable: gone",
        "the test store is used again",
    ]


def test_a_right_answer_after_the_deadline_is_used_but_held_against_the_store(
    guarded: Guarded, faulty: FaultyStore, clock: Clock
) -> None:
    def dawdle() -> None:
        clock.now += 2

    faulty.before = dawdle
    faulty.store = RamStore(memoryview(bytearray(1 << 20)), clock=lambda: 0.0)
    faulty.store.put(RECORD, deadline=NEVER)
    for _ in range(5):
        assert hit(guarded, clock.now + 1)
    assert guarded.state is State.OPEN
    assert guarded.stats().counts["slow"] == 5


def test_a_call_that_has_no_time_left_is_not_the_stores_fault(
    guarded: Guarded, faulty: FaultyStore, clock: Clock
) -> None:
    for _ in range(9):
        assert not hit(guarded, clock.now)
    assert faulty.calls == 0
    assert guarded.stats().counts["no_time"] == 9
    assert hit(guarded)


@pytest.mark.parametrize("error", [Unfit("x"), CodecMissing("x")])
def test_what_is_not_the_stores_fault_does_not_open_the_breaker(
    guarded: Guarded, faulty: FaultyStore, error: Exception
) -> None:
    faulty.error = error
    for _ in range(9):
        assert not hit(guarded)
    assert guarded.state is State.CLOSED


def test_a_request_to_stop_is_not_swallowed(guarded: Guarded, faulty: FaultyStore) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    faulty.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        hit(guarded)
