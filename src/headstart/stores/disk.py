"""A folder with a bound: what it may hold is counted in physical bytes, before anything is written.

What goes is the policy's to say, leaf first. Recency is the files' own time, and how hot chunks are
is written down now and then (`heat.py`), so both survive a restart. The folder is scanned in the
background: reading works at once, writing waits for the scan, because until then nobody knows how
full it is. Another process may share the folder: what it removed is a miss, what
it wrote is found at once and counted at the next scan, so two writers together can pass the bound
by what they wrote within RESCAN_EVERY.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock

from headstart.cache.keys import BlockKey
from headstart.cache.policies import Policy
from headstart.cache.visit import Visit
from headstart.stores.errors import Full, ReadOnly, RecordError, StoreError, WrongVersion
from headstart.stores.folder import FolderStore
from headstart.stores.heat import Heat, hottest_first, once
from headstart.stores.index import LeafIndex, Row, row_of
from headstart.stores.layout import HEAT_FILE, chunk_path, temps, walk
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock, StoreStats, time_left
from headstart.stores.record import PAGE, Record, encode
from headstart.stores.reports import Report, Reports

RESCAN_EVERY = 60.0
"""Seconds, at least, between two scans."""
NOTE_SECONDS = 10.0
"""What writing down the heat may take."""
CLOSE_SECONDS = 2.0
"""What of it the end of the process waits for."""
STALE_UNLOCKED = 10 * 10**9
STALE = 3600 * 10**9
"""Nanoseconds after which a temp is nobody's: one whose lock is free, and any. Some file systems
have no locks, and a file is young before it is locked."""
_FULL_SHARE = 10
"""When the disk is full before the bound is reached, a tenth of what is held makes way."""


class DiskStore:
    """`folder` within `max_bytes`. `background` runs a function elsewhere, as a thread does.

    `policy` chooses what goes; without one the longest unused leaf does.
    """

    def __init__(
        self,
        folder: FolderStore,
        *,
        max_bytes: int,
        clock: Clock,
        time_ns: Callable[[], int],
        background: Callable[[Callable[[], None]], None],
        policy: Policy | None = None,
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._clock = clock
        self._time_ns = time_ns
        self._background = background
        self._lock = Lock()
        self._index: LeafIndex[str] = LeafIndex(policy)
        """Its places are namespace folders, its stamps nanoseconds since 1970."""
        self._heat = Heat()
        self._reports = Reports()
        self._reserved = 0
        self._last_stamp = 0
        self.scanned = False
        """See HotStore."""
        self._scanning = Lock()
        self._next_scan = self._next_note = clock() + RESCAN_EVERY
        self._noting = False
        self._closed = False
        background(self.scan)

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """See Store. What isn't in the index may be another process's, or not yet scanned."""
        time_left(self._clock, deadline)
        with self._lock:
            found = [key in self._index for key in keys]
        unknown = [key for key, here in zip(keys, found, strict=True) if not here]
        looked_up = iter(self._folder.contains_many(namespace, unknown, deadline=deadline))
        return [here or next(looked_up) for here in found]

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """See Store. Damage is a miss, and the damaged file is removed."""
        with self._lock:
            row = self._index.get(key)
        record = self._folder.get(namespace, key, into, deadline=deadline)
        with self._lock:
            if record is not None:
                self._index.touch(key, self._stamp())
            elif self._index.get(key) is row:
                self._index.remove(key)
        return record

    def put(self, record: Record, *, deadline: float) -> bool:
        """See Store."""
        time_left(self._clock, deadline)
        self._rescan_if_due()
        if self._holds(record, deadline):
            return True
        if not self.scanned:
            self._folder.counts.add("scanning")
            return False
        if self._folder.writes_paused():
            return False
        header, stored = encode(record, self._folder.codec)
        size = len(header) + len(stored)
        size += -size % PAGE
        try:
            self._reserve(size, record.parent)
            try:
                physical = self._folder.save(record, header, stored, deadline)
            except Full:
                with suppress(Full):
                    self._evict(self._index.bytes // _FULL_SHARE)
                raise
            finally:
                with self._lock:
                    self._reserved -= size
        except (Full, ReadOnly) as error:
            self._folder.counts.add(error.reason)
            return False
        with self._lock:
            row = row_of(record, physical, self._stamp(), record.namespace.folder)
            self._index.written(record.key, row)
            over = self._index.bytes + self._reserved - self._max_bytes
        with suppress(Full):
            self._evict(over)
        self._folder.counts.add("stored")
        return True

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """See Store."""
        self._folder.delete(namespace, key, deadline=deadline)
        with self._lock:
            self._index.remove(key)

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """See Store. The policy's time is the wall clock here: it has to outlive the process."""
        stamp = self._time_ns()
        self._reports.add(Report(keys, reused, stamp, replace(visit, now=stamp / 1e9)))
        if self._clock() >= self._next_note and not self._noting:
            self._next_note = self._clock() + RESCAN_EVERY
            self._noting = True  # Another one would only wait behind it, where the disk hangs.
            self._background(self._note_in_turn)

    def hottest(self) -> list[BlockKey]:
        """See HotStore."""
        with self._lock:
            self._learn()
            rows = {key: row for key in self._index if (row := self._index.get(key)) is not None}
            warmth = {key: self._heat.get(key) or once(row.stamp) for key, row in rows.items()}
        return hottest_first(
            {key: (row.parent, row.depth, warmth[key].heat) for key, row in rows.items()}
        )

    def peek(
        self, key: BlockKey, wanted: Callable[[PersistentNamespace], bool], *, deadline: float
    ) -> Record | None:
        """See HotStore. Damage is left to whoever asks for the chunk."""
        with self._lock:
            row = self._index.get(key)
        return None if row is None else self._folder.read(row.place, key, wanted, deadline)

    def stats(self) -> StoreStats:
        """See Store. Without the lock: who holds it may be waiting for a disk that hangs."""
        return StoreStats(
            chunks=len(self._index),
            bytes=self._index.bytes,
            capacity=self._max_bytes,
            counts=self._folder.counts.snapshot(),
        )

    def close(self) -> None:
        """See Store. A running scan ends at its next file."""
        self._closed = True
        if self.scanned:
            noted = Event()

            def note() -> None:
                self._note_heat()
                noted.set()

            self._background(note)
            noted.wait(CLOSE_SECONDS)  # And no longer: the disk may hang.
        self._folder.close()

    def scan(self) -> None:
        """Bring the index up to date with the folder, and remove damage and what dead writers left.

        Runs once at a time; a second call returns at once.
        """
        if not self._scanning.acquire(blocking=False):
            return
        try:
            with self._lock:
                gone = {key: self._index.get(key) for key in self._index}
            if not self.scanned:
                self._recall_heat()
            for folder, key, _ in walk(self._folder.files, self._folder.root):
                if self._closed:
                    return
                gone.pop(key, None)
                with suppress(OSError):
                    self._scan_chunk(folder, key)
            with self._lock:
                for key, row in gone.items():
                    if self._index.get(key) is row:
                        self._index.remove(key)
                over = self._index.bytes + self._reserved - self._max_bytes
                waiting = self._index.waiting()
            for key, stamp in waiting:
                with self._lock:
                    self._index.resume(key, stamp / 1e9)
            self._remove_stale_temps()
            self.scanned = True
            with suppress(Full):
                self._evict(over)
        except OSError:
            self._folder.counts.add("scan_failed")
        finally:
            self._next_scan = self._clock() + RESCAN_EVERY
            self._scanning.release()

    def _scan_chunk(self, folder: str, key: BlockKey) -> None:
        path = chunk_path(self._folder.root, folder, key)
        status = self._folder.files.status(path)
        used = min(status.st_mtime_ns, self._time_ns())
        with self._lock:
            if key in self._index:
                self._index.touch(key, used)
                return
        size = status.st_blocks * 512
        try:
            _, header = self._folder.peek(folder, key, float("inf"))
            row = row_of(header.record, size, used, folder)
        except (WrongVersion, OSError):
            # It can't be used, but it takes space: counted, and given up like any other.
            row = Row(None, 0, 1, used, size, used, folder)
        except RecordError as error:
            self._folder.counts.add(error.reason)
            self._folder.discard(path)
            return
        with self._lock:
            if (warmth := self._heat.get(key)) is not None:
                row.uses = warmth.uses
                row.stamp = min(max(used, warmth.last), self._time_ns())
            if key not in self._index:
                self._index.found(key, row)

    def _recall_heat(self) -> None:
        """Without it, or damaged, what was used is cold but for its files' times."""
        with suppress(FileNotFoundError):
            try:
                with self._lock:
                    self._heat.load(self._folder.read_note(HEAT_FILE))
            except ValueError:
                self._folder.counts.add("heat_lost")

    def _learn(self) -> None:
        """From the requests that are over since the last time; under the lock."""
        for report in self._reports.take():
            self._index.used(report)
            self._heat.used((key for key in report.keys if key in self._index), report.stamp)

    def _note_in_turn(self) -> None:
        try:
            self._note_heat()
        finally:
            self._noting = False

    def _note_heat(self) -> None:
        with self._lock:
            self._learn()
            if self._heat.noted:
                return
            data = self._heat.dump()
        try:
            self._folder.write_note(HEAT_FILE, data, self._clock() + NOTE_SECONDS)
        except StoreError as error:
            self._folder.counts.add(error.reason)

    def _remove_stale_temps(self) -> None:
        for path in temps(self._folder.files, self._folder.root):
            with suppress(OSError):
                age = self._time_ns() - self._folder.files.status(path).st_mtime_ns
                free = age > STALE_UNLOCKED and not self._folder.files.is_locked(path)
                if free or age > STALE:
                    self._folder.files.remove(path)

    def _rescan_if_due(self) -> None:
        if self._clock() >= self._next_scan:
            self._next_scan = self._clock() + RESCAN_EVERY
            self._background(self.scan)

    def _holds(self, record: Record, deadline: float) -> bool:
        with self._lock:
            row = self._index.get(record.key)
            if row is not None and row.first_position == record.first_position:
                self._index.touch(record.key, self._stamp())
                return True
        return self._folder.holds(record, deadline)

    def _reserve(self, size: int, parent: BlockKey) -> None:
        """Make room for `size` bytes and set it aside. Raises a StoreError."""
        with self._lock:
            self._learn()
        if size > self._max_bytes:
            raise Full("larger than the whole store")
        floor = self._folder.min_free + self._reserved + size
        self._evict(floor - self._folder.free_bytes(), parent)
        while True:
            with self._lock:
                if self._index.bytes + self._reserved + size <= self._max_bytes:
                    self._reserved += size
                    return
                self._evict_one(parent)

    def _evict(self, size: int, parent: BlockKey | None = None) -> None:
        """Give up chunks of at least `size` bytes, but not `parent`. Raises Full."""
        while size > 0:
            with self._lock:
                size -= self._evict_one(parent)

    def _evict_one(self, parent: BlockKey | None) -> int:
        """Give up one chunk under the lock, never for longer; its bytes. Raises Full."""
        key = self._index.victim(spared=parent)
        row = None if key is None else self._index.get(key)
        if key is None or row is None:
            raise Full("nothing may be given up")
        try:
            self._folder.files.remove(chunk_path(self._folder.root, row.place, key))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Full(f"a file can't be removed: {error}") from error
        self._index.remove(key)
        self._folder.counts.add("evicted")
        return row.size

    def _stamp(self) -> int:
        """Now, but later than every stamp before: recency is never decided by a clock's grain."""
        self._last_stamp = max(self._time_ns(), self._last_stamp + 1)
        return self._last_stamp
