"""What every store must do. `test_conformance.py` runs it on each of them."""

import dataclasses
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from tests.stores.build import NEVER, OTHER, SPACE, chain, chunk

from headstart.cache import Visit
from headstart.cache.keys import BlockKey
from headstart.stores import Record, Store
from headstart.stores.errors import Late, StoreError

Tamper = Callable[[Record, Callable[[bytes], bytes]], None]
"""Replaces a stored record's bytes, behind the store's back, by what the function makes of them."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A store under test. Its real clock may be running; deadlines are infinite or in the past."""

    store: Store
    tamper: Tamper
    never_raises: bool = False


def held(subject: Subject, record: Record) -> Record | None:
    return subject.store.get(record.namespace, record.key, deadline=NEVER)


def put(subject: Subject, *records: Record) -> None:
    for record in records:
        assert subject.store.put(record, deadline=NEVER)


def seen(subject: Subject, records: list[Record]) -> list[bool]:
    keys = [record.key for record in records]
    return subject.store.contains_many(SPACE, keys, deadline=NEVER)


class Conformance:
    def test_what_was_put_comes_back_whole(self, subject: Subject) -> None:
        for record in chain(3):
            put(subject, record)
            assert held(subject, record) == record

    def test_what_was_never_put_is_a_miss(self, subject: Subject) -> None:
        assert held(subject, chunk()) is None
        assert subject.store.stats().counts["miss"] == 1

    def test_hearing_of_a_request_changes_nothing_that_is_stored(self, subject: Subject) -> None:
        records = chain(3)
        put(subject, *records[:2])
        subject.store.used([record.key for record in records], 1, Visit(now=5.0))
        subject.store.used([], 0, Visit())
        assert seen(subject, records) == [True, True, False]
        put(subject, records[2])
        assert [held(subject, record) for record in records] == records

    def test_contains_answers_key_by_key(self, subject: Subject) -> None:
        records = chain(5)
        put(subject, records[0], records[3])
        assert seen(subject, records) == [True, False, False, True, False]
        assert seen(subject, []) == []

    def test_a_payload_is_read_into_the_callers_memory(self, subject: Subject) -> None:
        record = chunk(size=70_001)
        put(subject, record)
        scratch = bytearray(70_001)
        found = subject.store.get(SPACE, record.key, memoryview(scratch), deadline=NEVER)
        assert found is not None
        assert isinstance(found.payload, memoryview)
        assert found.payload.obj is scratch
        assert scratch == record.payload

    @pytest.mark.parametrize("length", [0, 4999, 5001])
    def test_a_buffer_of_another_length_gets_nothing_and_harms_nothing(
        self, subject: Subject, length: int
    ) -> None:
        record = chunk(size=5000)
        put(subject, record)
        scratch = memoryview(bytearray(length))
        if subject.never_raises:
            assert subject.store.get(SPACE, record.key, scratch, deadline=NEVER) is None
        else:
            with pytest.raises(StoreError, match="5000"):
                subject.store.get(SPACE, record.key, scratch, deadline=NEVER)
        assert held(subject, record) == record

    @pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 1 << 20])
    def test_a_payload_may_have_any_length(self, subject: Subject, size: int) -> None:
        record = chunk(size=size)
        put(subject, record)
        assert held(subject, record) == record

    def test_a_memoryview_of_any_shape_is_taken_as_bytes(self, subject: Subject) -> None:
        record = chunk(size=4096)
        shaped = memoryview(record.payload).cast("i", (32, 32))
        put(subject, dataclasses.replace(record, payload=shaped))
        assert held(subject, record) == record

    def test_a_deleted_chunk_is_gone_and_deleting_twice_is_fine(self, subject: Subject) -> None:
        kept, gone = chunk(seed=1), chunk(seed=2)
        put(subject, kept, gone)
        subject.store.delete(SPACE, gone.key, deadline=NEVER)
        subject.store.delete(SPACE, gone.key, deadline=NEVER)
        assert held(subject, gone) is None
        assert held(subject, kept) == kept
        put(subject, gone)
        assert held(subject, gone) == gone

    def test_the_same_chunk_may_be_put_again(self, subject: Subject) -> None:
        record = chunk()
        put(subject, record, record)
        assert held(subject, record) == record

    def test_a_chunk_of_other_blocks_with_the_same_last_key_replaces(
        self, subject: Subject
    ) -> None:
        first, second = chain(2)
        whole = dataclasses.replace(
            first, key=second.key, tokens=first.tokens + second.tokens, payload=b"whole"
        )
        put(subject, first, second, whole)
        assert held(subject, second) == whole

    def test_namespaces_are_walls(self, subject: Subject) -> None:
        mine, theirs = chunk(), chunk(space=OTHER)
        put(subject, mine, theirs)
        assert held(subject, theirs) == theirs
        assert subject.store.get(OTHER, mine.key, deadline=NEVER) is None
        assert subject.store.contains_many(OTHER, [mine.key, theirs.key], deadline=NEVER) == [
            False,
            True,
        ]
        subject.store.delete(OTHER, mine.key, deadline=NEVER)
        assert held(subject, mine) == mine

    @pytest.mark.parametrize(
        "change",
        [
            {"key": BlockKey(bytes(32))},
            {"parent": BlockKey(bytes(32))},
            {"first_position": 1},
            {"tokens": b""},
            {"tokens": bytes(12)},
            {"tokens": bytes(32)},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_a_record_that_contradicts_itself_is_not_taken(
        self, subject: Subject, change: dict[str, BlockKey]
    ) -> None:
        wrong = dataclasses.replace(chunk(), **change)
        if subject.never_raises:
            assert not subject.store.put(wrong, deadline=NEVER)
        else:
            with pytest.raises(ValueError, match=r"key|position|blocks"):
                subject.store.put(wrong, deadline=NEVER)
        assert held(subject, wrong) is None

    @pytest.mark.parametrize("where", [0, 9, 20, 100, 600, 4090, 4096, 5000, -1])
    def test_a_flipped_bit_is_a_miss_and_removes_the_chunk(
        self, subject: Subject, where: int
    ) -> None:
        record = chunk()
        put(subject, record)
        subject.tamper(record, lambda data: flipped(data, where))
        assert held(subject, record) is None
        assert seen(subject, [record]) == [False]
        assert seen_damage(subject) == 1
        put(subject, record)
        assert held(subject, record) == record

    def test_a_deadline_in_the_past_is_refused(self, subject: Subject) -> None:
        record = chunk()
        put(subject, record)
        calls: list[Callable[[], object]] = [
            lambda: subject.store.get(SPACE, record.key, deadline=0.0),
            lambda: any(subject.store.contains_many(SPACE, [record.key], deadline=0.0)),
            lambda: subject.store.put(record, deadline=0.0),
            lambda: subject.store.delete(SPACE, record.key, deadline=0.0),
        ]
        for call in calls:
            if subject.never_raises:
                assert not call()
            else:
                with pytest.raises(Late):
                    call()
        assert held(subject, record) == record

    def test_events_are_counted(self, subject: Subject) -> None:
        record = chunk()
        held(subject, record)
        put(subject, record)
        held(subject, record)
        counts = subject.store.stats().counts
        assert (counts["miss"], counts["stored"], counts["hit"]) == (1, 1, 1)

    def test_threads_get_what_they_asked_for_or_nothing(self, subject: Subject) -> None:
        records = chain(12, size=20_000)

        def work(seed: int) -> int:
            draw, hits = random.Random(seed), 0
            for _ in range(40):
                record = draw.choice(records)
                match draw.randrange(4):
                    case 0:
                        subject.store.put(record, deadline=NEVER)
                    case 1 if seed == 0:
                        subject.store.delete(SPACE, record.key, deadline=NEVER)
                    case _:
                        found = held(subject, record)
                        assert found in (None, record)
                        hits += found is not None
            return hits

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work, range(4))) > 0
        assert seen_damage(subject) == 0


def flipped(data: bytes, where: int) -> bytes:
    changed = bytearray(data)
    changed[where] ^= 0x10
    return bytes(changed)


def seen_damage(subject: Subject) -> int:
    counts = subject.store.stats().counts
    return sum(
        counts.get(reason, 0) for reason in ("truncated", "corrupt", "foreign", "wrong_version")
    )
