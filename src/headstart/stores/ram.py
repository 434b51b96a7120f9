"""Chunks in a fixed stretch of memory, in the same record format as on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from threading import Lock

from headstart.cache.keys import BlockKey
from headstart.cache.policies import Policy
from headstart.cache.visit import Visit
from headstart.stores.arena import Extents
from headstart.stores.codec import Codec, Raw
from headstart.stores.counts import Counts
from headstart.stores.errors import RecordError
from headstart.stores.index import LeafIndex, Row, row_of
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock, StoreStats, time_left
from headstart.stores.record import PAGE, Record, encode, fill_from, read_record
from headstart.stores.reports import Report, Reports


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    length: int
    """Of the record; its extent is in whole pages."""
    namespace: bytes


class RamStore:
    """Holds what fits into `arena`, a writable buffer of bytes that the caller may have pinned.

    `policy` chooses what goes; without one the longest unused leaf does.

    A reader holds no lock while it copies: if the chunk is given up and overwritten meanwhile, its
    checksums say so, and it is a miss.
    """

    def __init__(
        self,
        arena: memoryview,
        *,
        clock: Clock,
        codec: Codec | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._arena = arena
        self._clock = clock
        self._codec = codec or Raw()
        self._lock = Lock()
        self._extents = Extents(len(arena))
        self._index: LeafIndex[_Place] = LeafIndex(policy)
        self._serial = count()
        self._reports = Reports()
        self._counts = Counts()

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """See Store."""
        time_left(self._clock, deadline)
        with self._lock:
            return [self._row(namespace, key) is not None for key in keys]

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """See Store."""
        time_left(self._clock, deadline)
        with self._lock:
            row = self._row(namespace, key)
            if row is None:
                self._counts.add("miss")
                return None
            self._touch(key)
        start, length = row.place.start, row.place.length
        try:
            fill = fill_from(self._arena[start : start + length])
            record = read_record(fill, length, namespace, key, into, codec=self._codec)
        except RecordError as error:
            with self._lock:
                if self._index.get(key) is not row:
                    self._counts.add("miss")
                    return None
                self._drop(key)
            self._counts.add(error.reason)
            return None
        self._counts.add("hit")
        return record

    def put(self, record: Record, *, deadline: float) -> bool:
        """See Store."""
        time_left(self._clock, deadline)
        with self._lock:
            if self._holds(record):
                self._touch(record.key)
                return True
        header, stored = encode(record, self._codec)
        length = len(header) + len(stored)
        size = length + -length % PAGE
        with self._lock:
            for report in self._reports.take():
                self._index.used(report)
            start = self._make_room(size, record.parent)
        if start is None:
            return False
        self._arena[start : start + len(header)] = header
        self._arena[start + len(header) : start + length] = stored
        with self._lock:
            if self._holds(record):
                self._extents.give((start, size))
                return True
            self._drop(record.key)
            place = _Place(start, length, record.namespace.digest)
            self._index.written(record.key, row_of(record, size, next(self._serial), place))
            self._counts.add("stored")
        return True

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """See Store."""
        time_left(self._clock, deadline)
        with self._lock:
            if self._row(namespace, key) is not None:
                self._drop(key)

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """See Store."""
        self._reports.add(Report(keys, reused, next(self._serial), visit))

    def stats(self) -> StoreStats:
        """See Store."""
        with self._lock:
            return StoreStats(
                chunks=len(self._index),
                bytes=len(self._arena) - self._extents.free,
                capacity=len(self._arena),
                counts=self._counts.snapshot(),
            )

    def close(self) -> None:
        """See Store."""

    def _row(self, namespace: PersistentNamespace, key: BlockKey) -> Row[_Place] | None:
        row = self._index.get(key)
        return row if row is not None and row.place.namespace == namespace.digest else None

    def _holds(self, record: Record) -> bool:
        row = self._index.get(record.key)
        return row is not None and row.first_position == record.first_position

    def _touch(self, key: BlockKey) -> None:
        self._index.touch(key, next(self._serial))

    def _make_room(self, size: int, parent: BlockKey) -> int | None:
        if size > len(self._arena):
            self._counts.add("too_large")
            return None
        while (extent := self._extents.take(size)) is None:
            victim = self._index.victim(spared=parent)
            if victim is None:
                self._counts.add("full")
                return None
            self._drop(victim)
            self._counts.add("evicted")
        return extent[0]

    def _drop(self, key: BlockKey) -> None:
        row = self._index.remove(key)
        if row is not None:
            self._extents.give((row.place.start, row.size))
