"""The bound, the scan and the order of eviction."""

import errno
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.stores.build import (
    NEVER,
    OTHER,
    SPACE,
    Clock,
    chain,
    chunk,
    chunk_files,
    disk_store,
    folder_store,
    hex_digits,
    path_of,
    physical,
)
from tests.stores.faults import FaultyFiles

from headstart.cache import POLICIES, Visit
from headstart.stores import DiskStore, Record
from headstart.stores.files import Files
from headstart.stores.layout import temp_path

EACH = 3 * 4096
"""Bytes that a chunk of 5000 takes: a page of header and two of payload."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


def put(store: DiskStore, *records: Record) -> list[bool]:
    return [store.put(record, deadline=NEVER) for record in records]


def serve(store: DiskStore, *requests: list[Record]) -> None:
    """Requests that compute all of it are over, one after the other."""
    for records in requests:
        put(store, *records)
        store.used([record.key for record in records], 0, Visit())


def use(store: DiskStore, records: list[Record], *, times: int = 1) -> None:
    """Requests that reuse all of it, from wherever, are over."""
    for _ in range(times):
        store.used([record.key for record in records], len(records), Visit())


def get(store: DiskStore, record: Record) -> Record | None:
    return store.get(record.namespace, record.key, deadline=NEVER)


def kept(store: DiskStore, records: list[Record]) -> list[bool]:
    return store.contains_many(SPACE, [record.key for record in records], deadline=NEVER)


def count(store: DiskStore, reason: str) -> int:
    return store.stats().counts.get(reason, 0)


def test_the_bound_holds_in_physical_bytes_after_every_write(tmp_path: Path, clock: Clock) -> None:
    store, bound = disk_store(tmp_path, clock, max_bytes=10 * EACH), 10 * EACH
    draw = random.Random(0)
    for seed in range(60):
        record = chunk(seed=seed, size=draw.randrange(30_000))
        assert put(store, record) == [True]
        assert get(store, record) == record
        assert physical(tmp_path) == store.stats().bytes
        assert physical(tmp_path) <= bound
    assert count(store, "evicted") > 0


def test_the_end_of_the_longest_unused_sequence_goes_first(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=4 * EACH)
    old, new = chain(2, seed=1), chain(2, seed=2)
    put(store, *old, *new, chunk(seed=3))
    assert kept(store, old + new) == [True, False, True, True]
    assert get(store, old[0]) == old[0]
    put(store, chunk(seed=4))
    assert kept(store, old + new) == [True, False, True, False]


def test_a_chunk_never_pushes_out_its_own_parent(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    assert put(store, *chain(3)) == [True, True, False]
    assert count(store, "full") == 1


def test_a_chunk_larger_than_the_store_pushes_nothing_out(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    assert put(store, chunk(seed=1), chunk(seed=2, size=50_000)) == [True, False]
    assert kept(store, [chunk(seed=1)]) == [True]


def test_what_was_stored_is_a_hit_after_a_restart_and_counted(tmp_path: Path, clock: Clock) -> None:
    records = chain(5)
    put(disk_store(tmp_path, clock), *records)
    store = disk_store(tmp_path, clock)
    assert (store.stats().chunks, store.stats().bytes) == (5, 5 * EACH)
    assert [get(store, record) for record in records] == records
    put(store, *records)
    assert len(chunk_files(tmp_path)) == 5


def test_the_order_of_use_survives_a_restart(tmp_path: Path, clock: Clock) -> None:
    records = [chunk(seed=seed) for seed in range(4)]
    store = disk_store(tmp_path, clock)
    for record in records:
        put(store, record)
        os.utime(path_of(tmp_path, record), ns=(clock.wall(), clock.wall()))
        clock.now += 100
    assert get(store, records[0]) == records[0]
    clock.now += 100
    store = disk_store(tmp_path, clock, max_bytes=4 * EACH)
    put(store, chunk(seed=9), chunk(seed=10))
    assert kept(store, records) == [True, False, False, True]


def test_chunks_found_by_the_scan_still_go_leaf_first(tmp_path: Path, clock: Clock) -> None:
    records = chain(4)
    put(disk_store(tmp_path, clock), *records)
    for age, record in enumerate(records):
        os.utime(path_of(tmp_path, record), ns=(age, age))
    store = disk_store(tmp_path, clock, max_bytes=4 * EACH)
    put(store, chunk(seed=1))
    assert kept(store, records) == [True, True, True, False]


def test_a_smaller_bound_is_kept_from_the_first_scan_on(tmp_path: Path, clock: Clock) -> None:
    put(disk_store(tmp_path, clock), *chain(6))
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    assert physical(tmp_path) == 2 * EACH
    assert kept(store, chain(6)) == [True, True, False, False, False, False]


def test_reading_works_before_the_scan_and_writing_after_it(tmp_path: Path, clock: Clock) -> None:
    records = chain(3)
    put(disk_store(tmp_path, clock), *records)
    waiting: list[Callable[[], None]] = []
    store = disk_store(tmp_path, clock, background=waiting.append)
    assert kept(store, [*records, chunk(seed=1)]) == [True, True, True, False]
    assert get(store, records[1]) == records[1]
    assert put(store, chunk(seed=1)) == [False]
    assert put(store, records[0]) == [True]
    assert count(store, "scanning") == 1
    waiting[0]()
    assert put(store, chunk(seed=1)) == [True]
    assert store.stats().chunks == 4


def test_the_scan_removes_damage_and_leaves_what_is_not_ours(tmp_path: Path, clock: Clock) -> None:
    records = chain(4)
    put(disk_store(tmp_path, clock), *records)
    paths = [path_of(tmp_path, record) for record in records]
    os.truncate(paths[0], 5000)
    paths[1].write_bytes(b"noise" * 2000)
    paths[2].write_bytes(paths[3].read_bytes())
    strangers = [
        tmp_path / "notes.txt",
        tmp_path / "photos" / "ab" / paths[0].name,
        tmp_path / SPACE.folder / "ab.kv",
        paths[3].with_name("notes.txt"),
        tmp_path / "tmp" / "notes.tmp",
    ]
    for stranger in strangers:
        stranger.parent.mkdir(parents=True, exist_ok=True)
        stranger.write_text("mine")
        os.utime(stranger, ns=(0, 0))
    store = disk_store(tmp_path, clock)
    assert [path for path in paths if path.exists()] == [paths[3]]
    assert store.stats().bytes == EACH
    assert all(stranger.read_text() == "mine" for stranger in strangers)
    assert (count(store, "truncated"), count(store, "corrupt"), count(store, "foreign")) == (
        1,
        1,
        1,
    )


def test_another_versions_files_are_counted_and_given_up_in_turn(
    tmp_path: Path, clock: Clock
) -> None:
    record = chunk(seed=1)
    put(disk_store(tmp_path, clock), record)
    path = path_of(tmp_path, record)
    data = bytearray(path.read_bytes())
    data[8] = 2
    path.write_bytes(data)
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    assert store.stats().bytes == EACH
    put(store, chunk(seed=2))
    assert path.exists()
    put(store, chunk(seed=3))
    assert not path.exists()


def test_a_dead_writers_temps_go_and_a_living_ones_stay(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "tmp").mkdir()
    dead, living = (
        temp_path(tmp_path, chunk(seed=seed).key.hex(), hex_digits()) for seed in range(2)
    )
    dead.write_bytes(b"half")
    handle = Files().create(living)
    for path in (dead, living):
        os.utime(path, ns=(clock.wall(), clock.wall()))
    disk_store(tmp_path, clock)
    assert (dead.exists(), living.exists()) == (True, True), "too young to judge"
    clock.now += 11
    disk_store(tmp_path, clock)
    assert (dead.exists(), living.exists()) == (False, True)
    clock.now += 3600
    disk_store(tmp_path, clock)
    assert not living.exists(), "nobody writes for an hour"
    os.close(handle)


def test_what_another_process_did_is_seen_at_once_and_counted_by_the_next_scan(
    tmp_path: Path, clock: Clock
) -> None:
    ours = disk_store(tmp_path, clock)
    theirs = folder_store(tmp_path, clock)
    mine, other = chunk(seed=1), chunk(seed=2)
    put(ours, mine)
    theirs.put(other, deadline=NEVER)
    theirs.delete(SPACE, mine.key, deadline=NEVER)
    assert get(ours, other) == other
    assert get(ours, mine) is None
    assert kept(ours, [mine, other]) == [False, True]
    assert ours.stats().chunks == 0
    clock.now += 60
    put(ours, chunk(seed=3))
    assert ours.stats().chunks == 2
    assert ours.stats().bytes == physical(tmp_path)


def test_an_index_that_promises_what_is_gone_is_put_right(tmp_path: Path, clock: Clock) -> None:
    records = [chunk(seed=seed) for seed in range(5)]
    store = disk_store(tmp_path, clock, max_bytes=5 * EACH)
    put(store, *records)
    for path in chunk_files(tmp_path):
        path.unlink()
    assert kept(store, records) == [True] * 5
    assert [get(store, record) for record in records] == [None] * 5
    assert store.stats().bytes == 0
    assert put(store, *records) == [True] * 5


def test_a_disk_that_is_full_before_the_bound_gets_some_back(tmp_path: Path, clock: Clock) -> None:
    files = FaultyFiles()
    store = disk_store(tmp_path, clock, files=files)
    put(store, *chain(20))
    files.errors = {"write": errno.ENOSPC}
    assert put(store, chunk(seed=1)) == [False]
    assert store.stats().chunks == 18
    files.errors = {}
    assert put(store, chunk(seed=1)) == [False]
    clock.now += 30
    assert put(store, chunk(seed=1)) == [True]


def test_chunks_make_way_when_others_fill_the_disk(tmp_path: Path, clock: Clock) -> None:
    files = FaultyFiles()
    store = disk_store(tmp_path, clock, files=files, min_free=100_000)
    put(store, *(chunk(seed=seed) for seed in range(5)))
    files.free = 100_000 - EACH
    assert put(store, chunk(seed=9)) == [True]
    assert store.stats().chunks == 4
    files.free = 0
    assert put(store, chunk(seed=10)) == [False]


def test_what_cannot_be_removed_is_still_counted(tmp_path: Path, clock: Clock) -> None:
    files = FaultyFiles()
    store = disk_store(tmp_path, clock, files=files, max_bytes=2 * EACH)
    put(store, chunk(seed=1), chunk(seed=2))
    files.errors = {"remove": errno.EACCES}
    assert put(store, chunk(seed=3)) == [False]
    assert store.stats().bytes == physical(tmp_path) == 2 * EACH


def test_an_unreadable_folder_declines_writes_and_serves_nothing_wrong(
    tmp_path: Path, clock: Clock
) -> None:
    class Unlistable(Files):
        def names(self, folder: Path) -> Iterator[str]:
            raise OSError(errno.EIO, "broken")

    put(disk_store(tmp_path, clock), chunk())
    store = disk_store(tmp_path, clock, files=Unlistable())
    assert get(store, chunk()) == chunk()
    assert put(store, chunk(seed=1)) == [False]
    assert (count(store, "scan_failed"), count(store, "scanning")) == (1, 1)


def test_the_bound_is_one_for_all_namespaces(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=4 * EACH)
    put(store, *chain(4), *chain(4, space=OTHER))
    assert physical(tmp_path) == 4 * EACH


def test_what_is_written_anew_behind_the_scans_back_stays_counted(
    tmp_path: Path, clock: Clock
) -> None:
    record = chunk()

    class Racing(Files):
        def names(self, folder: Path) -> Iterator[str]:
            if folder == path_of(tmp_path, record).parent:
                store.delete(SPACE, record.key, deadline=NEVER)
                yield from super().names(folder)
                store.put(record, deadline=NEVER)
            else:
                yield from super().names(folder)

    store = disk_store(tmp_path, clock, files=Racing())
    put(store, record)
    store.scan()
    assert store.stats().bytes == physical(tmp_path) == EACH


def test_a_closed_store_stops_its_scan(tmp_path: Path, clock: Clock) -> None:
    put(disk_store(tmp_path, clock), *chain(3))
    waiting: list[Callable[[], None]] = []
    store = disk_store(tmp_path, clock, background=waiting.append)
    store.close()
    waiting[0]()
    assert store.stats().chunks == 0


def test_a_scan_beside_readers_and_writers_keeps_the_books(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=20 * EACH)
    records = [record for seed in range(6) for record in chain(6, seed=seed)]
    stop = threading.Event()

    def scan_on() -> None:
        while not stop.is_set():
            store.scan()

    scanner = threading.Thread(target=scan_on)
    scanner.start()
    draw = random.Random(1)
    for _ in range(300):
        record = draw.choice(records)
        match draw.randrange(5):
            case 0:
                store.delete(SPACE, record.key, deadline=NEVER)
            case 1 | 2:
                store.put(record, deadline=NEVER)
            case _:
                assert get(store, record) in (None, record)
        assert physical(tmp_path) <= 20 * EACH
    stop.set()
    scanner.join()
    store.scan()
    assert store.stats().bytes == physical(tmp_path)
    assert store.stats().chunks == len(chunk_files(tmp_path))


def test_what_the_pool_reuses_is_not_old_for_the_disk(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    hot, cold = chunk(seed=1), chunk(seed=2)
    serve(store, [hot], [cold])
    clock.now += 1
    use(store, [hot])
    put(store, chunk(seed=3))
    assert kept(store, [hot, cold]) == [True, False]


def test_how_often_chunks_were_used_outlives_the_process(tmp_path: Path, clock: Clock) -> None:
    """By their files' times, the favourite is the oldest."""
    favourite, late = chunk(seed=1), chunk(seed=2)
    store = disk_store(tmp_path, clock)
    serve(store, [favourite], [late])
    use(store, [favourite], times=5)
    clock.now += 10
    use(store, [late])
    store.close()
    for age, record in enumerate((favourite, late)):
        os.utime(path_of(tmp_path, record), ns=(age, age))
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH, policy=POLICIES["lfu"]())
    serve(store, [chunk(seed=3)])
    assert kept(store, [favourite, late]) == [True, False]


def test_the_last_use_outlives_the_process_also_if_no_file_was_read(
    tmp_path: Path, clock: Clock
) -> None:
    records = [chunk(seed=seed) for seed in range(2)]
    store = disk_store(tmp_path, clock)
    put(store, *records)
    for age, record in enumerate(records):
        os.utime(path_of(tmp_path, record), ns=(age, age))
    use(store, records[:1])
    store.close()
    store = disk_store(tmp_path, clock, max_bytes=2 * EACH)
    put(store, chunk(seed=3))
    assert kept(store, records) == [True, False]


def test_the_hottest_prefixes_are_told_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    once, often, orphan = chain(2, seed=1), chain(3, seed=2), chain(2, seed=3)
    store = disk_store(tmp_path, clock)
    put(store, *once, *often, orphan[1])
    use(store, often[:2], times=3)
    use(store, once)
    store.close()
    for record in [*once, *often, *orphan[1:]]:
        os.utime(path_of(tmp_path, record), ns=(clock.wall(), clock.wall()))
    order = disk_store(tmp_path, clock).hottest()
    assert order[:4] == [record.key for record in often[:2] + once]
    assert set(order[4:]) == {often[2].key}


def test_heat_is_written_down_while_the_server_runs(tmp_path: Path, clock: Clock) -> None:
    store = disk_store(tmp_path, clock)
    put(store, chunk())
    clock.now += 60
    use(store, [chunk()], times=2)
    assert (tmp_path / "heat").exists()


@pytest.mark.parametrize("damage", [b"", b"HEADHT", b"noise" * 20])
def test_a_damaged_file_of_heat_is_only_forgotten_heat(
    tmp_path: Path, clock: Clock, damage: bytes
) -> None:
    store = disk_store(tmp_path, clock)
    put(store, *chain(2))
    (tmp_path / "heat").write_bytes(damage)
    store = disk_store(tmp_path, clock)
    assert get(store, chunk()) == chunk()
    assert count(store, "heat_lost") == 1
    assert store.hottest() == [record.key for record in chain(2)]
    use(store, chain(2))
    store.close()
    assert count(disk_store(tmp_path, clock), "heat_lost") == 0


def test_while_one_writes_the_heat_down_or_hangs_in_it_no_other_begins(
    tmp_path: Path, clock: Clock
) -> None:
    store = disk_store(tmp_path, clock)
    put(store, chunk())
    begun: list[Callable[[], None]] = []
    store._background = begun.append
    for _ in range(3):
        clock.now += 61
        use(store, [chunk()])
    assert len(begun) == 1
    begun.pop()()
    clock.now += 61
    use(store, [chunk()])
    assert len(begun) == 1


def test_heat_that_cannot_be_written_down_harms_nothing(tmp_path: Path, clock: Clock) -> None:
    files = FaultyFiles()
    store = disk_store(tmp_path, clock, files=files)
    put(store, chunk())
    use(store, [chunk()])
    files.errors = {"write": errno.ENOSPC}
    store.close()
    assert count(store, "full") == 1
    assert get(store, chunk()) == chunk()


def test_a_disk_that_hangs_does_not_keep_the_process_from_ending(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.stores.disk.CLOSE_SECONDS", 0.05)
    files, works = FaultyFiles(), threading.Event()
    store = disk_store(tmp_path, clock, files=files)
    put(store, chunk())
    use(store, [chunk()])
    store._background = lambda work: threading.Thread(target=work, daemon=True).start()

    def hangs(operation: str) -> None:
        works.wait(20)

    files.before = hangs
    store.close()
    assert not (tmp_path / "heat").exists()
    works.set()


def test_a_disk_that_hangs_while_a_chunk_is_removed_does_not_keep_anybody_from_the_numbers(
    tmp_path: Path, clock: Clock
) -> None:
    files, hangs, works = FaultyFiles(), threading.Event(), threading.Event()
    store = disk_store(tmp_path, clock, files=files, max_bytes=2 * EACH)
    put(store, *chain(2))

    def before(operation: str) -> None:
        if operation == "remove":
            hangs.set()
            works.wait(20)

    files.before = before
    writer = threading.Thread(target=put, args=(store, chunk(seed=1)))
    writer.start()
    assert hangs.wait(20)
    told: list[int | None] = []
    asker = threading.Thread(target=lambda: told.append(store.stats().chunks))
    asker.start()
    asker.join(5)
    waited = asker.is_alive()
    works.set()
    writer.join(20)
    asker.join(20)
    assert (waited, told) == (False, [2])


def test_a_store_that_did_not_see_all_its_chunks_does_not_overwrite_their_heat(
    tmp_path: Path, clock: Clock
) -> None:
    store = disk_store(tmp_path, clock)
    put(store, chunk())
    use(store, [chunk()], times=3)
    store.close()
    known = (tmp_path / "heat").read_bytes()
    waiting: list[Callable[[], None]] = []
    disk_store(tmp_path, clock, background=waiting.append).close()
    assert (tmp_path / "heat").read_bytes() == known


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_keeps_the_bound_and_what_runs(
    tmp_path: Path, clock: Clock, name: str
) -> None:
    store = disk_store(tmp_path, clock, max_bytes=12 * EACH, policy=POLICIES[name]())
    for seed in range(12):
        clock.now += 7
        records = chain(4, seed=seed)
        assert put(store, *records) == [True] * 4
        assert kept(store, records) == [True] * 4
        store.used([record.key for record in records], 0, Visit(prompt_tokens=32, new_tokens=32))
        assert physical(tmp_path) == store.stats().bytes <= 12 * EACH
