import io
import os
from pathlib import Path

import pytest
from tests.stores.build import (
    NEVER,
    NOON,
    OTHER,
    SPACE,
    Clock,
    Rough,
    chain,
    chunk_files,
    disk_store,
    folder_store,
    path_of,
    physical,
)

from headstart.stores import RamStore, Record, Zstd
from headstart.stores.codec import INT8
from headstart.stores.heat import Heat
from headstart.stores.inspect import chunks, export, import_into, prune, summarise

DAY = 86_400 * 10**9


@pytest.fixture
def records() -> list[Record]:
    return chain(3) + chain(2, space=OTHER, size=100)


@pytest.fixture
def root(tmp_path: Path, records: list[Record]) -> Path:
    store = folder_store(tmp_path / "kv", Clock())
    for record in records:
        store.put(record, deadline=NEVER)
    for age, record in enumerate(records):
        os.utime(path_of(store.root, record), ns=(NOON, NOON + age * DAY))
    return store.root


def damage(root: Path, record: Record, where: int) -> None:
    path = path_of(root, record)
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(data)


def keys(found: list[Record]) -> set[bytes]:
    return {record.key for record in found}


def test_every_chunk_is_listed_with_its_tokens_bytes_and_age(
    root: Path, records: list[Record]
) -> None:
    found = {chunk.key: chunk for chunk in chunks(root)}
    assert found.keys() == keys(records)
    for age, record in enumerate(records):
        listed = found[record.key]
        assert (listed.folder, listed.tokens) == (record.namespace.folder, 8)
        assert (listed.used, listed.problem) == (NOON + age * DAY, "")
        assert listed.physical == path_of(root, record).stat().st_blocks * 512


def test_a_missing_folder_is_empty(tmp_path: Path) -> None:
    assert list(chunks(tmp_path / "nothing")) == []


def test_namespaces_are_summed_up(root: Path, records: list[Record]) -> None:
    damage(root, records[4], 50)
    os.utime(path_of(root, records[4]), ns=(NOON, NOON + 4 * DAY))
    ours, theirs = sorted(summarise(chunks(root)), key=lambda found: -found.chunks)
    assert (ours.chunks, ours.tokens, ours.damaged) == (3, 24, 0)
    assert (ours.oldest, ours.newest) == (NOON, NOON + 2 * DAY)
    assert ours.text == SPACE.text.decode()
    assert (theirs.chunks, theirs.tokens, theirs.damaged) == (2, 8, 1)
    assert ours.physical + theirs.physical == physical(root)


def test_verifying_reads_every_byte_and_removes_nothing(root: Path, records: list[Record]) -> None:
    damage(root, records[1], -1)
    assert [chunk for chunk in chunks(root) if chunk.problem] == []
    (found,) = [chunk for chunk in chunks(root, verify=True) if chunk.problem]
    assert found.key == records[1].key
    assert found.problem == "corrupt: the payload's checksum is wrong"
    assert found.path.exists()


def test_pruning_by_age_removes_what_was_not_used_since(root: Path, records: list[Record]) -> None:
    removed = prune(root, used_before=NOON + 4 * DAY)
    assert {chunk.key for chunk in removed} == keys(records[:3])
    assert {chunk.key for chunk in chunks(root)} == keys(records[3:])
    assert not (root / SPACE.folder).exists()


def test_pruning_by_age_keeps_a_parent_whose_child_is_kept(
    root: Path, records: list[Record]
) -> None:
    prune(root, used_before=NOON + DAY)
    assert {chunk.key for chunk in chunks(root)} == keys(records)


def test_what_the_pool_used_was_used(root: Path, records: list[Record]) -> None:
    heat = Heat()
    heat.used([record.key for record in records[:3]], NOON + 9 * DAY)
    (root / "heat").write_bytes(heat.dump())
    removed = prune(root, used_before=NOON + 8 * DAY)
    assert {chunk.key for chunk in removed} == keys(records[3:])
    assert {chunk.used for chunk in chunks(root)} == {NOON + 9 * DAY}


def test_pruning_by_size_removes_leaves_first(root: Path, records: list[Record]) -> None:
    removed = prune(root, max_bytes=physical(root) - 1)
    assert {chunk.key for chunk in removed} == {records[2].key}
    prune(root, max_bytes=0)
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_pruning_one_namespace_leaves_the_others(root: Path, records: list[Record]) -> None:
    prune(root, folder=OTHER.folder)
    assert {chunk.key for chunk in chunks(root)} == keys(records[:3])


def test_pruning_takes_what_cannot_be_read(root: Path, records: list[Record]) -> None:
    damage(root, records[0], 0)
    (removed,) = prune(root, max_bytes=1 << 40)
    assert removed.key == records[0].key
    assert not removed.path.exists()


def test_a_dry_run_removes_nothing(root: Path) -> None:
    assert len(prune(root, max_bytes=0, dry_run=True)) == 5
    assert len(chunk_files(root)) == 5


def test_pruning_everything_by_accident_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="what to remove"):
        prune(root)


def test_an_archive_carries_chunks_to_another_store(
    root: Path, records: list[Record], tmp_path: Path
) -> None:
    archive = io.BytesIO()
    assert export(root, archive) == []
    archive.seek(0)
    target = disk_store(tmp_path / "other", Clock(), codec=Zstd())
    outcome = import_into(target, archive)
    assert (outcome.kept, outcome.declined, outcome.damaged) == (5, 0, {})
    for record in records:
        assert target.get(record.namespace, record.key, deadline=NEVER) == record


def test_lossy_chunks_are_listed_checked_pruned_and_carried_on_without_being_unpacked(
    tmp_path: Path,
) -> None:
    records, codec = chain(3), Rough(INT8)
    store = folder_store(tmp_path / "kv", Clock(), codec=codec)
    for record in records:
        store.put(record, deadline=NEVER)
    root = store.root
    assert [chunk.problem for chunk in chunks(root, verify=True)] == [""] * 3
    assert [found.lossy for found in summarise(chunks(root))] == [3]
    archive = io.BytesIO()
    assert export(root, archive) == []
    archive.seek(0)
    other = disk_store(tmp_path / "other", Clock())
    assert import_into(other, archive).kept == 3
    for record in records:
        assert path_of(root, record).read_bytes() == (
            path_of(tmp_path / "other", record).read_bytes()
        )
    damage(root, records[1], -1)
    (bad,) = [chunk for chunk in chunks(root, verify=True) if chunk.problem]
    assert bad.key == records[1].key
    assert {chunk.key for chunk in prune(root, max_bytes=0)} == keys(records)


def test_an_archive_may_hold_one_namespace(root: Path, tmp_path: Path) -> None:
    archive = io.BytesIO()
    export(root, archive, folder=OTHER.folder)
    archive.seek(0)
    target = folder_store(tmp_path / "other", Clock())
    assert import_into(target, archive).kept == 2


def test_damage_is_left_out_of_an_archive(root: Path, records: list[Record]) -> None:
    damage(root, records[1], -1)
    archive = io.BytesIO()
    (left_out,) = export(root, archive)
    assert left_out.key == records[1].key
    archive.seek(0)
    store = RamStore(memoryview(bytearray(1 << 20)), clock=Clock())
    assert import_into(store, archive).kept == 4


def test_damage_in_an_archive_is_counted_and_not_taken(root: Path, tmp_path: Path) -> None:
    archive = io.BytesIO()
    export(root, archive)
    data = bytearray(archive.getvalue())
    first_payload = data.index(b"HEADKV") + 4096
    data[first_payload] ^= 1
    target = folder_store(tmp_path / "other", Clock())
    outcome = import_into(target, io.BytesIO(data))
    assert (outcome.kept, outcome.damaged) == (4, {"corrupt": 1})


def test_a_full_store_declines_what_an_archive_brings(root: Path) -> None:
    archive = io.BytesIO()
    export(root, archive)
    archive.seek(0)
    store = RamStore(memoryview(bytearray(4096)), clock=Clock())
    assert import_into(store, archive).declined == 5


def test_an_archives_names_lead_nowhere(tmp_path: Path, root: Path) -> None:
    import tarfile

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(chunk_files(root)[0], "../../escaped.kv")
    archive.seek(0)
    target = folder_store(tmp_path / "other", Clock())
    assert import_into(target, archive).kept == 1
    assert not list(tmp_path.rglob("escaped*"))
    assert len(chunk_files(tmp_path / "other")) == 1
