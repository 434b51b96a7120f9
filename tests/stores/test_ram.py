import pytest
from tests.stores.build import NEVER, SPACE, Clock, chain, chunk

from headstart.cache import POLICIES, Visit
from headstart.cache.policies import Policy
from headstart.stores import RamStore, Raw, Record
from headstart.stores.codec import Buffer
from headstart.stores.record import Fill, fill_from

PAGE = 4096
EACH = 3 * PAGE
"""Bytes that a chunk of 5000 takes: a page of header and two of payload."""


def store_for(chunks: int, policy: Policy | None = None) -> RamStore:
    return RamStore(memoryview(bytearray(chunks * EACH)), clock=Clock(), policy=policy)


def kept(store: RamStore, records: list[Record]) -> list[bool]:
    return store.contains_many(SPACE, [record.key for record in records], deadline=NEVER)


def test_what_is_in_use_never_exceeds_the_arena() -> None:
    store = store_for(3)
    for seed in range(10):
        assert store.put(chunk(seed=seed), deadline=NEVER)
        stats = store.stats()
        assert stats.bytes == min(seed + 1, 3) * EACH <= (stats.capacity or 0)
    assert store.stats().counts["evicted"] == 7


def test_the_end_of_the_longest_unused_sequence_goes_first() -> None:
    store = store_for(4)
    old, new = chain(2, seed=1), chain(2, seed=2)
    for record in old + new:
        store.put(record, deadline=NEVER)
    store.put(chunk(seed=3), deadline=NEVER)
    assert kept(store, old + new) == [True, False, True, True]


def test_reading_makes_a_chunk_young() -> None:
    store = store_for(2)
    first, second = chunk(seed=1), chunk(seed=2)
    store.put(first, deadline=NEVER)
    store.put(second, deadline=NEVER)
    assert store.get(SPACE, first.key, deadline=NEVER) == first
    store.put(chunk(seed=3), deadline=NEVER)
    assert kept(store, [first, second]) == [True, False]


def test_what_the_pool_reuses_is_not_old_for_the_arena() -> None:
    store = store_for(2)
    first, second = chunk(seed=1), chunk(seed=2)
    for record in (first, second):
        store.put(record, deadline=NEVER)
        store.used([record.key], 0, Visit())
    store.used([first.key], 1, Visit())
    store.put(chunk(seed=3), deadline=NEVER)
    assert kept(store, [first, second]) == [True, False]


def test_the_policy_it_was_given_chooses() -> None:
    store = store_for(2, policy=POLICIES["fifo"]())
    first, second = chunk(seed=1), chain(2)[1]
    for record in (first, second):
        store.put(record, deadline=NEVER)
        store.used([record.key], 0, Visit())
    assert store.get(SPACE, first.key, deadline=NEVER) == first
    store.put(chunk(seed=3), deadline=NEVER)
    assert kept(store, [first, second]) == [False, True]


def test_a_chunk_never_pushes_out_its_own_parent() -> None:
    store = store_for(2)
    records = chain(3)
    assert [store.put(record, deadline=NEVER) for record in records] == [True, True, False]
    assert kept(store, records) == [True, True, False]
    assert store.stats().counts["full"] == 1


def test_a_chunk_larger_than_the_arena_is_declined_and_pushes_nothing_out() -> None:
    store = store_for(2)
    small = chunk()
    store.put(small, deadline=NEVER)
    assert not store.put(chunk(seed=1, size=2 * EACH), deadline=NEVER)
    assert kept(store, [small]) == [True]
    assert store.stats().counts["too_large"] == 1


@pytest.mark.parametrize("size", [0, 4095, 4096])
def test_an_arena_too_small_for_anything_declines(size: int) -> None:
    store = RamStore(memoryview(bytearray(size)), clock=Clock())
    assert not store.put(chunk(), deadline=NEVER)


def test_chunks_of_many_sizes_share_the_arena() -> None:
    store = RamStore(memoryview(bytearray(64 * PAGE)), clock=Clock())
    for seed in range(200):
        record = chunk(seed=seed, size=seed * 997 % 50_000)
        assert store.put(record, deadline=NEVER)
        assert store.get(SPACE, record.key, deadline=NEVER) == record
    for seed in range(200):
        store.delete(SPACE, chunk(seed=seed, size=seed * 997 % 50_000).key, deadline=NEVER)
    assert store.stats().bytes == 0
    assert store.put(chunk(size=63 * PAGE), deadline=NEVER)


def test_two_writers_of_one_chunk_take_its_room_once() -> None:
    record = chunk()

    class Overtaken(Raw):
        """While the first writer packs, a second one comes and goes."""

        def pack(self, payload: Buffer) -> Buffer:
            packed.append(payload)
            if len(packed) == 1:
                assert store.put(record, deadline=NEVER)
            return payload

    packed: list[Buffer] = []
    store = RamStore(memoryview(bytearray(4 * EACH)), clock=Clock(), codec=Overtaken())
    assert store.put(record, deadline=NEVER)
    assert store.stats().bytes == EACH
    assert store.get(SPACE, record.key, deadline=NEVER) == record


def test_a_chunk_overwritten_while_it_is_read_is_a_miss_not_damage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record, other = chunk(seed=1), chunk(seed=2)
    store = store_for(1)
    store.put(record, deadline=NEVER)

    def overwritten_meanwhile(data: memoryview) -> Fill:
        fill = fill_from(data)

        def slowly(view: memoryview) -> None:
            fill(view)
            store.put(other, deadline=NEVER)

        return slowly

    monkeypatch.setattr("headstart.stores.ram.fill_from", overwritten_meanwhile)
    assert store.get(SPACE, record.key, deadline=NEVER) is None
    assert store.stats().counts["miss"] == 1
    monkeypatch.undo()
    assert store.get(SPACE, other.key, deadline=NEVER) == other
