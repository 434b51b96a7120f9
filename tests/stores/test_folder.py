"""Files that lie, disks that fail: every answer is right or a miss."""

import dataclasses
import errno
import os
import stat
from pathlib import Path

import pytest
from tests.stores.build import (
    NEVER,
    NOON,
    OTHER,
    SPACE,
    Clock,
    chain,
    chunk,
    chunk_files,
    folder_store,
    path_of,
)
from tests.stores.faults import FaultyFiles

from headstart.stores import FolderStore, Record
from headstart.stores.errors import CodecMissing, Late, Unavailable
from headstart.stores.namespace import parse


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files() -> FaultyFiles:
    return FaultyFiles()


@pytest.fixture
def store(tmp_path: Path, clock: Clock, files: FaultyFiles) -> FolderStore:
    return folder_store(tmp_path / "kv", clock, files=files)


def put(store: FolderStore, record: Record) -> bool:
    return store.put(record, deadline=NEVER)


def get(store: FolderStore, record: Record) -> Record | None:
    return store.get(record.namespace, record.key, deadline=NEVER)


def count(store: FolderStore, reason: str) -> int:
    return store.stats().counts.get(reason, 0)


@pytest.mark.parametrize("length", [0, 1, 100, 4095, 4096, 4097, 9095])
def test_a_truncated_file_is_a_miss_and_removed(store: FolderStore, length: int) -> None:
    record = chunk()
    assert put(store, record)
    path = path_of(store.root, record)
    os.truncate(path, length)
    assert get(store, record) is None
    assert not path.exists()
    assert count(store, "truncated") == 1


def test_a_longer_file_is_a_miss_and_removed(store: FolderStore) -> None:
    record = chunk()
    put(store, record)
    path = path_of(store.root, record)
    path.write_bytes(path.read_bytes() + b"\0")
    assert get(store, record) is None
    assert not path.exists()


def test_another_namespaces_file_in_this_place_is_a_miss_and_removed(store: FolderStore) -> None:
    mine, theirs = chunk(), chunk(space=OTHER)
    put(store, mine)
    put(store, theirs)
    path_of(store.root, mine).write_bytes(path_of(store.root, theirs).read_bytes())
    assert get(store, mine) is None
    assert count(store, "foreign") == 1
    assert not path_of(store.root, mine).exists()
    assert get(store, theirs) == theirs


def test_another_chunks_file_in_this_place_is_a_miss_and_removed(store: FolderStore) -> None:
    first, second = chain(2)
    put(store, first)
    put(store, second)
    path_of(store.root, first).write_bytes(path_of(store.root, second).read_bytes())
    assert get(store, first) is None
    assert count(store, "foreign") == 1


def test_a_file_of_another_format_is_a_miss_and_removed(store: FolderStore) -> None:
    record = chunk()
    put(store, record)
    path = path_of(store.root, record)
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    assert get(store, record) is None
    assert count(store, "wrong_version") == 1
    assert put(store, record)
    assert get(store, record) == record


def test_a_damaged_file_is_written_anew_by_the_next_put(store: FolderStore) -> None:
    record = chunk()
    put(store, record)
    path_of(store.root, record).write_bytes(b"")
    assert put(store, record)
    assert get(store, record) == record


def test_a_missing_codec_is_no_damage(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    record = chunk()
    put(store, record)

    def missing(*_: object) -> None:
        raise CodecMissing("not installed")

    with monkeypatch.context() as patch:
        patch.setattr("headstart.stores.record.codec_of", missing)
        with pytest.raises(CodecMissing):
            get(store, record)
    assert get(store, record) == record


def test_short_reads_and_writes_are_carried_on(store: FolderStore, files: FaultyFiles) -> None:
    files.piece = 1000
    record = chunk(size=20_000)
    assert put(store, record)
    assert get(store, record) == record


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("operation", ["create", "write", "rename", "make_folder"])
def test_a_full_disk_declines_leaves_no_temp_and_pauses_writing(
    store: FolderStore, files: FaultyFiles, clock: Clock, operation: str, code: int
) -> None:
    stored, record = chunk(seed=1), chunk(seed=2)
    put(store, stored)
    files.errors = {operation: code}
    assert not put(store, record)
    assert list(store.root.glob("tmp/*")) == []
    files.errors = {}
    assert not put(store, record)
    assert put(store, stored), "what is here already is kept"
    assert get(store, stored) == stored
    clock.now += 30
    assert put(store, record)
    assert count(store, "full") == 2


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_disk_that_became_read_only_is_still_read(
    store: FolderStore, files: FaultyFiles, clock: Clock, code: int
) -> None:
    stored, damaged, record = chunk(seed=1), chunk(seed=2), chunk(seed=3)
    put(store, stored)
    put(store, damaged)
    path_of(store.root, damaged).write_bytes(b"")
    clock.now += 3600
    files.errors = dict.fromkeys(
        ("create", "write", "rename", "make_folder", "remove", "set_times"), code
    )
    assert not put(store, record)
    clock.now += 299
    assert not put(store, record)
    assert count(store, "read_only") == 2
    assert get(store, stored) == stored
    assert get(store, damaged) is None
    files.errors = {}
    clock.now += 1
    assert put(store, record)


@pytest.mark.parametrize("operation", ["open", "read"])
def test_a_disk_that_cannot_be_read_is_told_from_a_miss(
    store: FolderStore, files: FaultyFiles, operation: str
) -> None:
    record = chunk()
    put(store, record)
    files.errors = {operation: errno.EIO}
    with pytest.raises(Unavailable):
        get(store, record)
    files.errors = {}
    assert get(store, record) == record


def test_a_write_error_leaves_nothing_and_pauses_nothing(
    store: FolderStore, files: FaultyFiles
) -> None:
    record = chunk()
    files.errors = {"write": errno.EIO}
    with pytest.raises(Unavailable):
        put(store, record)
    assert [path for path in store.root.rglob("*") if path.is_file()] == []
    files.errors = {}
    assert put(store, record)


def test_a_slow_disk_is_given_up_at_the_deadline(
    store: FolderStore, files: FaultyFiles, clock: Clock
) -> None:
    stored, record = chunk(seed=1, size=50_000), chunk(seed=2, size=50_000)
    put(store, stored)
    files.piece = 1000

    def take_a_second(operation: str) -> None:
        clock.now += operation in ("read", "write")

    files.before = take_a_second
    for call in (
        lambda: store.get(SPACE, stored.key, deadline=clock.now + 5),
        lambda: store.put(record, deadline=clock.now + 5),
    ):
        began = clock.now
        with pytest.raises(Late):
            call()
        assert clock.now - began <= 6
    assert list(store.root.glob("tmp/*")) == []
    assert path_of(store.root, stored).exists()


def test_space_is_left_to_others(tmp_path: Path, clock: Clock, files: FaultyFiles) -> None:
    store = folder_store(tmp_path, clock, files=files, min_free=1_000_000)
    files.free = 1_005_000
    assert not put(store, chunk())
    assert count(store, "full") == 1
    files.free = 1_020_000
    assert put(store, chunk())


def test_two_stores_share_a_folder(tmp_path: Path, clock: Clock) -> None:
    ours, theirs = folder_store(tmp_path, clock), folder_store(tmp_path, clock)
    record = chunk()
    assert put(ours, record)
    assert put(theirs, record)
    assert get(theirs, record) == record
    theirs.delete(SPACE, record.key, deadline=NEVER)
    assert get(ours, record) is None
    assert len(chunk_files(tmp_path)) == 0


def test_use_is_written_down_but_not_at_every_read(store: FolderStore, clock: Clock) -> None:
    record = chunk()
    put(store, record)
    path = path_of(store.root, record)
    os.utime(path, ns=(clock.wall(), clock.wall()))
    before = path.stat().st_mtime_ns
    clock.now += 59
    get(store, record)
    assert path.stat().st_mtime_ns == before
    clock.now += 1
    get(store, record)
    assert path.stat().st_mtime_ns == before + 60 * 10**9 == clock.wall()


def test_nobody_else_may_read_what_was_said(store: FolderStore) -> None:
    put(store, chunk())
    for path in store.root.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_people_can_read_what_a_namespace_is(store: FolderStore) -> None:
    record = chunk()
    put(store, record)
    about = store.root / SPACE.folder / "namespace.json"
    assert parse(about.read_bytes()) == SPACE
    assert b'"tenant": "acme"' in about.read_bytes()


def test_the_time_of_creation_is_kept(store: FolderStore) -> None:
    record = dataclasses.replace(chunk(), created=NOON)
    put(store, record)
    found = get(store, record)
    assert found is not None
    assert found.created == NOON
