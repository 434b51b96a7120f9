"""Records as files: safe reading and writing, without a bound of its own.

By itself it is a remote store on a shared directory whose space somebody else looks after;
`DiskStore` adds a bound and eviction. A file is written under another name and renamed, so a killed
process leaves whole records or temps. Nothing is flushed: after a power cut the checksums find what
is torn. Several processes may write at once, the same key too. Deadlines are looked at between
pieces: a network mount that hangs holds the calling thread for as long as it hangs.
"""

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores.codec import Buffer, Codec, Raw
from headstart.stores.counts import Counts
from headstart.stores.errors import (
    Foreign,
    Full,
    ReadOnly,
    RecordError,
    StoreError,
    Truncated,
    Unavailable,
)
from headstart.stores.files import Files
from headstart.stores.layout import NAMESPACE_FILE, chunk_path, temp_path
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock, StoreStats, time_left
from headstart.stores.record import (
    PAGE,
    Fill,
    Header,
    Record,
    encode,
    read_header,
    read_payload,
    read_record,
)

MIN_FREE = 1 << 30
"""Bytes left to everybody else on the file system."""
FULL_PAUSE = 30.0
READ_ONLY_PAUSE = 300.0
"""Seconds without a try to write, after the disk said that it is full, or read-only."""
TOUCH_EVERY = 60 * 10**9
"""Nanoseconds. A file's time of use is written down no more often: it is an order, not a log."""
_PIECE = 4 << 20
"""Bytes between two looks at the deadline."""


class FolderStore:
    """Chunks in `root`. `time_ns` is the wall clock, `random` gives fresh hex digits."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        time_ns: Callable[[], int],
        random: Callable[[], str],
        files: Files | None = None,
        codec: Codec | None = None,
        min_free: int = MIN_FREE,
    ) -> None:
        self.root = root
        self.files = files or Files()
        self.counts = Counts()
        self.min_free = min_free
        self._clock = clock
        self._time_ns = time_ns
        self._random = random
        self.codec = codec or Raw()
        self._paused_until = float("-inf")
        self._paused_for = ""

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """See Store."""
        try:
            return [self._exists(namespace, key, deadline) for key in keys]
        except OSError as error:
            raise Unavailable(str(error)) from error

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """See Store. Damage is a miss, and the damaged file is removed."""
        time_left(self._clock, deadline)
        path = chunk_path(self.root, namespace.folder, key)
        try:
            handle = self.files.open(path)
            try:
                status = self.files.handle_status(handle)
                fill = self._fill_from(handle, deadline)
                record = read_record(fill, status.st_size, namespace, key, into, codec=self.codec)
            finally:
                self.files.close(handle)
        except FileNotFoundError:
            self.counts.add("miss")
            return None
        except OSError as error:
            raise Unavailable(f"{path}: {error}") from error
        except RecordError as error:
            self.counts.add(error.reason)
            self.discard(path)
            return None
        self.counts.add("hit")
        now = self._time_ns()
        if now - status.st_mtime_ns >= TOUCH_EVERY:
            with suppress(OSError):
                self.files.set_times(path, now)
        return record

    def put(self, record: Record, *, deadline: float) -> bool:
        """See Store."""
        time_left(self._clock, deadline)
        if self.holds(record, deadline):
            return True
        if self.writes_paused():
            return False
        header, stored = encode(record, self.codec)
        try:
            if self.free_bytes() < self.min_free + len(header) + len(stored):
                self.counts.add(Full.reason)
                return False
            self.save(record, header, stored, deadline)
        except (Full, ReadOnly) as error:
            self.counts.add(error.reason)
            return False
        self.counts.add("stored")
        return True

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """See Store."""
        time_left(self._clock, deadline)
        path = chunk_path(self.root, namespace.folder, key)
        try:
            self.files.remove(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Unavailable(f"{path}: {error}") from error

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """See Store. Nothing is chosen here."""

    def stats(self) -> StoreStats:
        """See Store."""
        return StoreStats(chunks=None, bytes=None, capacity=None, counts=self.counts.snapshot())

    def close(self) -> None:
        """See Store."""

    def writes_paused(self) -> bool:
        """Whether the disk was full or read-only a moment ago; counts a refusal."""
        if self._clock() >= self._paused_until:
            return False
        self.counts.add(self._paused_for)
        return True

    def holds(self, record: Record, deadline: float) -> bool:
        """Whether a readable record of the same blocks is here."""
        try:
            _, header = self.peek(record.namespace.folder, record.key, deadline)
        except (OSError, RecordError):
            return False
        return header.record.first_position == record.first_position

    def peek(self, folder: str, key: BlockKey, deadline: float) -> tuple[os.stat_result, Header]:
        """A file's status and header. Raises OSError or a StoreError."""
        handle = self.files.open(chunk_path(self.root, folder, key))
        try:
            status = self.files.handle_status(handle)
            header = read_header(self._fill_from(handle, deadline), status.st_size)
        finally:
            self.files.close(handle)
        if header.record.key != key or header.record.namespace.folder != folder:
            raise Foreign("a record in another one's place")
        return status, header

    def read(
        self,
        folder: str,
        key: BlockKey,
        wanted: Callable[[PersistentNamespace], bool],
        deadline: float,
    ) -> Record | None:
        """A file's record, verified, if it is there and its namespace wanted; not counted.

        Raises StoreError.
        """
        try:
            handle = self.files.open(chunk_path(self.root, folder, key))
            try:
                fill = self._fill_from(handle, deadline)
                header = read_header(fill, self.files.handle_status(handle).st_size)
                if header.record.key != key or not wanted(header.record.namespace):
                    return None
                return read_payload(fill, header, codec=self.codec)
            finally:
                self.files.close(handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(str(error)) from error

    def read_note(self, name: str) -> bytes:
        """A small file of our own in the root. Raises OSError."""
        handle = self.files.open(self.root / name)
        try:
            data = bytearray(self.files.handle_status(handle).st_size)
            self._fill_from(handle, float("inf"))(memoryview(data))
        finally:
            self.files.close(handle)
        return bytes(data)

    def write_note(self, name: str, data: bytes, deadline: float) -> None:
        """Replace a small file of our own in the root. Raises a StoreError."""
        if self.writes_paused():
            return
        try:
            self._write(self.root / name, [memoryview(data)], deadline)
        except OSError as error:
            raise self._failed(error) from error

    def discard(self, path: Path) -> None:
        """Remove what is damaged. Where that fails it stays a miss."""
        with suppress(OSError):
            self.files.remove(path)

    def free_bytes(self) -> int:
        """What the file system has left."""
        try:
            self.files.make_folder(self.root)
            return self.files.free_bytes(self.root)
        except OSError as error:
            raise self._failed(error) from error

    def save(self, record: Record, header: bytes, stored: Buffer, deadline: float) -> int:
        """Write an encoded record; its physical bytes. Raises a StoreError."""
        folder, key = record.namespace.folder, record.key
        try:
            about = self.root / folder / NAMESPACE_FILE
            if not self._is_there(about):
                self._write(about, [memoryview(record.namespace.text)], deadline)
            return self._write(
                chunk_path(self.root, folder, key),
                [memoryview(header), memoryview(stored)],
                deadline,
            )
        except OSError as error:
            raise self._failed(error) from error

    def _write(self, path: Path, views: list[memoryview], deadline: float) -> int:
        length = sum(len(view) for view in views)
        temp = temp_path(self.root, path.stem, self._random())
        self.files.make_folder(temp.parent)
        handle = self.files.create(temp)
        try:
            for view in views:
                while view:
                    time_left(self._clock, deadline)
                    view = view[self.files.write(handle, view[:_PIECE]) :]
            self.files.make_folder(path.parent)
            self.files.rename(temp, path)
            blocks = self.files.handle_status(handle).st_blocks
        except BaseException:
            self.discard(temp)
            raise
        finally:
            self.files.close(handle)
        return max(length + -length % PAGE, blocks * 512)

    def _failed(self, error: OSError) -> StoreError:
        """What a failure to write means; it may pause writing."""
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                self._pause(FULL_PAUSE, Full.reason)
                return Full(str(error))
            case errno.EROFS | errno.EACCES | errno.EPERM:
                self._pause(READ_ONLY_PAUSE, ReadOnly.reason)
                return ReadOnly(str(error))
            case _:
                return Unavailable(str(error))

    def _pause(self, seconds: float, why: str) -> None:
        self._paused_until, self._paused_for = self._clock() + seconds, why

    def _exists(self, namespace: PersistentNamespace, key: BlockKey, deadline: float) -> bool:
        time_left(self._clock, deadline)
        return self._is_there(chunk_path(self.root, namespace.folder, key))

    def _is_there(self, path: Path) -> bool:
        try:
            self.files.status(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _fill_from(self, handle: int, deadline: float) -> Fill:
        def fill(view: memoryview) -> None:
            while view:
                time_left(self._clock, deadline)
                count = self.files.read(handle, view[:_PIECE])
                if not count:
                    raise Truncated("the file ends too soon")
                view = view[count:]

        return fill
