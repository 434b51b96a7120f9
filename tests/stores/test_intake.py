"""Who gets into a tier's queue. Chunks have 1,000 bytes."""

from hashlib import sha256

import pytest

from headstart.cache.keys import BlockKey
from headstart.stores import intake as module
from headstart.stores.intake import (
    BY_PLACE,
    DECLINED_PAUSE,
    QUEUE_SECONDS,
    UNMEASURED_QUEUE,
    Intake,
)
from headstart.stores.pace import Pace

MIB = 1024**2
SIZE = 1000


def key(number: int) -> BlockKey:
    return BlockKey(sha256(b"%d" % number).digest())


def intake(per_second: float | None = None, *, most_bytes: int = 1 << 40) -> Intake:
    pace = Pace()
    if per_second is not None:
        pace.took(1.0, int(per_second), 0.0)
    return Intake(pace, most_bytes=most_bytes)


def test_as_long_as_nothing_was_measured_it_holds_what_fits_into_memory_easily() -> None:
    assert intake().bound == UNMEASURED_QUEUE


@pytest.mark.parametrize("per_second", [MIB, 20 * MIB, 100 * MIB])
def test_it_holds_what_the_tier_writes_in_five_seconds(per_second: int) -> None:
    assert intake(per_second).bound == pytest.approx(QUEUE_SECONDS * per_second, rel=1e-6)


def test_it_never_holds_more_than_told() -> None:
    assert intake(1 << 50, most_bytes=5000).bound == 5000


def test_where_nothing_waits_a_chunk_of_any_size_may_come() -> None:
    books = intake(10)
    assert books.has_room(1 << 40, 1.0, 0.0)
    books.add(key(0), 1 << 40)
    assert not books.has_room(1, 0.0, 0.0)


@pytest.mark.parametrize("place", [0.0, 0.25, 0.5, 1.0])
def test_the_nearer_a_chunk_is_to_its_prompts_end_the_less_it_may_fill(place: float) -> None:
    books = intake(100 * SIZE)
    count = 0
    while books.has_room(SIZE, place, 0.0):
        books.add(key(count), SIZE)
        count += 1
    assert count == pytest.approx(QUEUE_SECONDS * 100 * (1 - BY_PLACE * place), abs=1)


def test_however_small_chunks_are_no_more_wait_than_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "KNOWN", 10)
    books = intake()
    for number in range(5):
        assert books.has_room(1, 0.0, 0.0)
        books.add(key(number), 1)
    assert not books.has_room(1, 0.0, 0.0)


def test_what_was_added_is_known_until_it_is_declined() -> None:
    books = intake()
    for number in range(3):
        books.add(key(number), SIZE)
    books.written(key(0), SIZE)
    books.declined(key(1), SIZE, 0.0)
    books.orphaned(key(2), SIZE)
    assert [books.has(key(number)) for number in range(3)] == [True, False, False]
    assert (books.bytes, books.chunks) == (0, 0)


def test_what_the_tier_has_lost_is_known_no_longer_but_what_waits_is() -> None:
    books = intake()
    for number in range(2):
        books.add(key(number), SIZE)
    books.written(key(0), SIZE)
    books.note(key(1))
    for number in range(3):
        books.lost(key(number))
    assert [books.has(key(number)) for number in range(3)] == [False, True, False]
    assert books.chunks == 1
    books.written(key(1), SIZE)
    books.lost(key(1))
    assert not books.has(key(1))


def test_what_was_known_longest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN", 3)
    books = intake()
    for number in (0, 1, 2, 0, 3):
        books.note(key(number))
    assert [books.has(key(number)) for number in range(4)] == [True, False, True, True]


def test_after_a_decline_nothing_may_come_for_a_second_and_then_one_until_it_is_taken() -> None:
    books = intake()
    for number in range(2):
        books.add(key(number), SIZE)
    books.declined(key(0), SIZE, 10.0)
    assert not books.has_room(SIZE, 0.0, 10.0)  # while the other waits
    books.orphaned(key(1), SIZE)
    assert not books.has_room(SIZE, 0.0, 10.0 + DECLINED_PAUSE - 0.01)
    assert books.has_room(SIZE, 0.0, 10.0 + DECLINED_PAUSE)
    books.add(key(2), SIZE)
    assert not books.has_room(SIZE, 0.0, 20.0)
    books.written(key(2), SIZE)
    books.add(key(3), SIZE)
    assert books.has_room(SIZE, 0.0, 20.0)


@pytest.mark.parametrize("offered", [0.5, 2, 4, 10])
@pytest.mark.parametrize("chunks", [1, 5, 20])
def test_of_too_much_the_share_that_can_be_written_gets_in_and_prompts_lose_their_ends(
    offered: float, chunks: int
) -> None:
    """Prompts come side by side, a chunk of each at a time, `offered` times faster than written.

    Whatever comes, the tier is never idle and every prompt of many chunks gets about the same
    number of them in.
    """
    per_second, side_by_side = 200.0, 20
    books, clock, served = intake(per_second * SIZE), 0.0, 0.0
    counts: list[int] = []
    written = 0
    while len(counts) < 4000:
        sent = [0] * side_by_side
        for at in range(chunks):
            for prompt in range(side_by_side):
                clock += 1 / (offered * per_second)
                while served + 1 / per_second <= clock:
                    served += 1 / per_second
                    if books.chunks:
                        books.written(key(0), SIZE)
                        written += clock > 20
                if sent[prompt] == at and books.has_room(SIZE, at / chunks, clock):
                    books.add(key(len(counts) * chunks + at), SIZE)
                    sent[prompt] += 1
        counts += sent if clock > 20 else []
    share = min(1.0, 1 / offered)
    assert sum(counts) / len(counts) == pytest.approx(share * chunks, rel=0.05)
    assert written / (clock - 20) == pytest.approx(min(offered, 1) * per_second, rel=0.05)
    if chunks >= 5:
        assert min(counts) >= int(share * chunks)
        assert max(counts) <= int(share * chunks) + 1
