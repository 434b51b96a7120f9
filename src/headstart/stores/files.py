"""The operations on files that a store needs; tests pass in ones that fail."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


class Files:
    """The operating system's. Every method may raise OSError."""

    def create(self, path: Path) -> int:
        """A new file, for its owner's eyes only, locked for as long as it is open."""
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks: its temps are told by their age
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle

    def open(self, path: Path) -> int:
        """For reading."""
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self, handle: int) -> None:
        """Also unlocks."""
        os.close(handle)

    def read(self, handle: int, view: memoryview) -> int:
        """Reads on; 0 at the end."""
        return os.readv(handle, [view])

    def write(self, handle: int, view: memoryview) -> int:
        """Writes on; how many bytes."""
        return os.write(handle, view)

    def status(self, path: Path) -> os.stat_result:
        """Of what the path leads to."""
        return os.stat(path)

    def handle_status(self, handle: int) -> os.stat_result:
        """Of an open file."""
        return os.fstat(handle)

    def rename(self, source: Path, target: Path) -> None:
        """Atomically, replacing what is there."""
        os.replace(source, target)

    def remove(self, path: Path) -> None:
        """One file."""
        os.unlink(path)

    def make_folder(self, path: Path) -> None:
        """With its parents, for its owner's eyes only; it may exist."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def names(self, folder: Path) -> Iterator[str]:
        """What is in a folder."""
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name

    def set_times(self, path: Path, nanoseconds: int) -> None:
        """When it was last used and changed."""
        os.utime(path, ns=(nanoseconds, nanoseconds))

    def free_bytes(self, folder: Path) -> int:
        """That this user may still write there."""
        state = os.statvfs(folder)
        return state.f_bavail * state.f_frsize

    def is_locked(self, path: Path) -> bool:
        """Whether somebody is writing a file made by `create`."""
        handle = self.open(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False
