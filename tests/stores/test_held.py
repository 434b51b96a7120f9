import threading
import time

import pytest
from tests.stores.build import chunk

from headstart.cache.keys import BlockKey
from headstart.stores.held import Held

KEY, OTHER = chunk(seed=1).key, chunk(seed=2).key
LONG = 10.0


class Reads:
    """Gives new memory, and counts; holds until told where asked to."""

    def __init__(self, *, hold: bool = False) -> None:
        self.count = 0
        self.begun, self.go = threading.Event(), threading.Event()
        if not hold:
            self.go.set()

    def __call__(self) -> memoryview:
        self.count += 1
        self.begun.set()
        assert self.go.wait(LONG)
        return memoryview(bytearray(10))


def in_thread(
    held: Held, key: BlockKey, read: Reads, timeout: float = LONG
) -> tuple[threading.Thread, list[memoryview | None]]:
    got: list[memoryview | None] = []
    thread = threading.Thread(target=lambda: got.append(held.get(key, 10, read, timeout=timeout)))
    thread.start()
    return thread, got


def test_a_chunk_that_somebody_still_has_is_not_read_again() -> None:
    held, reads = Held(100), Reads()
    first = held.get(KEY, 10, reads, timeout=0)
    assert held.get(KEY, 10, reads, timeout=0) is first
    assert (reads.count, held.bytes) == (1, 10)


def test_what_nobody_has_any_more_is_forgotten_and_its_memory_counted_as_free() -> None:
    held, reads = Held(100), Reads()
    payload = held.get(KEY, 10, reads, timeout=0)
    assert payload is not None
    del payload
    assert held.bytes == 0
    assert held.get(KEY, 10, reads, timeout=0) is not None
    assert reads.count == 2


def test_eight_who_want_the_same_chunk_at_once_read_it_once() -> None:
    held, reads = Held(100), Reads(hold=True)
    readers = [in_thread(held, KEY, reads) for _ in range(8)]
    assert reads.begun.wait(LONG)
    reads.go.set()
    for thread, _ in readers:
        thread.join()
    payloads = [got[0] for _, got in readers]
    assert payloads[0] is not None
    assert all(payload is payloads[0] for payload in payloads)
    assert reads.count == 1


def test_whoever_waits_for_anothers_read_waits_no_longer_than_told() -> None:
    held, reads = Held(100), Reads(hold=True)
    thread, _ = in_thread(held, KEY, reads)
    assert reads.begun.wait(LONG)
    begun = time.monotonic()
    assert held.get(KEY, 10, Reads(), timeout=0.05) is None
    assert time.monotonic() - begun < 5
    reads.go.set()
    thread.join()


def test_where_there_is_no_room_one_waits_until_another_lets_go() -> None:
    held, reads = Held(15), Reads()
    first = held.get(KEY, 10, Reads(), timeout=0)
    assert first is not None
    assert held.get(OTHER, 10, reads, timeout=0.01) is None
    thread, got = in_thread(held, OTHER, reads)
    time.sleep(0.02)
    assert reads.count == 0
    del first
    thread.join()
    assert got[0] is not None


def test_a_chunk_larger_than_the_bound_is_read_when_it_is_alone() -> None:
    held = Held(5)
    payload = held.get(KEY, 10, Reads(), timeout=0)
    assert payload is not None
    assert held.get(OTHER, 10, Reads(), timeout=0) is None


def test_a_failed_read_leaves_nothing_and_the_next_one_tries_again() -> None:
    held, reads = Held(10), Reads()
    assert held.get(KEY, 10, lambda: None, timeout=0) is None
    with pytest.raises(ZeroDivisionError):
        held.get(KEY, 10, lambda: memoryview(bytes(1 // 0)), timeout=0)
    assert held.bytes == 0
    assert held.get(KEY, 10, reads, timeout=0) is not None
