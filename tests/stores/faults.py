"""Things that fail on purpose: a store, and a file system."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores import PersistentNamespace, Record, Store, StoreStats
from headstart.stores.files import Files


class FaultyStore:
    """Does what `store` does, unless `error` is set, and calls `before` each call."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.error: Exception | None = None
        self.before: Callable[[], None] = lambda: None
        self.calls = 0

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        self._fault()
        return self.store.contains_many(namespace, keys, deadline=deadline)

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        self._fault()
        return self.store.get(namespace, key, into, deadline=deadline)

    def put(self, record: Record, *, deadline: float) -> bool:
        self._fault()
        return self.store.put(record, deadline=deadline)

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        self._fault()
        self.store.delete(namespace, key, deadline=deadline)

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        self.store.used(keys, reused, visit)

    def stats(self) -> StoreStats:
        return self.store.stats()

    def close(self) -> None:
        self.store.close()

    def _fault(self) -> None:
        self.calls += 1
        self.before()
        if self.error is not None:
            raise self.error


class FaultyFiles(Files):
    """A file system on which operations fail by name, or transfers are cut short."""

    def __init__(self) -> None:
        self.errors: dict[str, int] = {}
        """Operation to errno."""
        self.free: int | None = None
        self.piece: int | None = None
        """Bytes that one read or write moves at most."""
        self.before: Callable[[str], None] = lambda operation: None

    def create(self, path: Path) -> int:
        self._fault("create")
        return super().create(path)

    def open(self, path: Path) -> int:
        self._fault("open")
        return super().open(path)

    def read(self, handle: int, view: memoryview) -> int:
        self._fault("read")
        return super().read(handle, view[: self.piece])

    def write(self, handle: int, view: memoryview) -> int:
        if "write" in self.errors:
            super().write(handle, view[: len(view) // 2])
        self._fault("write")
        return super().write(handle, view[: self.piece])

    def rename(self, source: Path, target: Path) -> None:
        self._fault("rename")
        super().rename(source, target)

    def remove(self, path: Path) -> None:
        self._fault("remove")
        super().remove(path)

    def make_folder(self, path: Path) -> None:
        self._fault("make_folder")
        super().make_folder(path)

    def set_times(self, path: Path, nanoseconds: int) -> None:
        self._fault("set_times")
        super().set_times(path, nanoseconds)

    def free_bytes(self, folder: Path) -> int:
        return super().free_bytes(folder) if self.free is None else self.free

    def _fault(self, operation: str) -> None:
        self.before(operation)
        if operation in self.errors:
            raise OSError(self.errors[operation], os.strerror(self.errors[operation]))
