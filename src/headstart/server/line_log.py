"""A file that lines are added to, by a thread of its own. Adding one never waits and never fails.

Whole lines are what a reader finds: what a crash or a full disk cut short is taken back before
anything else is written.
"""

import fcntl
import logging
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 0.5
"""Lines are gathered for so long: a crash loses what came within it."""
MOST_WAITING_BYTES = 64 * 1024 * 1024
PIECE = 64 * 1024

Line = Callable[[], bytes]
"""Builds a line, without its end, when it is written."""


class LogError(Exception):
    """The file can't take lines. `str()` is one sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the lines."""

    kept: int
    lost: int
    """Too many waited, or the disk refused them."""


class LineLog:
    """One file, for its owner's eyes only. Any thread may add lines."""

    def __init__(
        self,
        path: Path,
        begin: bytes,
        *,
        interval: float = INTERVAL_SECONDS,
        most_waiting: int = MOST_WAITING_BYTES,
    ) -> None:
        """`begin`: of every line. Raises LogError, also for a file whose first line lacks it."""
        self._path = path
        self._interval = interval
        self._most_waiting = most_waiting
        self._handle, self._end = _open(path, begin)
        self._lines: deque[tuple[Line, int]] = deque()
        self._waiting = self._kept = self._lost = 0
        self._failing = self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="headstart-log", daemon=True)
        self._thread.start()

    def add(self, line: Line, size: int) -> None:
        """Have `line` written within a second. `size`: bytes that it holds on to until then."""
        with self._changed:
            full = self._lines and self._waiting + size > self._most_waiting
            if full or self._closed:
                self._lost += 1
                return
            self._lines.append((line, size))
            self._waiting += size
            self._changed.notify_all()

    def close(self, timeout: float = 5.0) -> None:
        """Write what waits and stop. What can't be written in time is lost."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        if lost := self.counts.lost:
            log.warning("%s lacks %d lines that could not be written.", self._path, lost)

    @property
    def counts(self) -> Counts:
        """As of now."""
        with self._changed:
            return Counts(self._kept, self._lost)

    def _run(self) -> None:
        while batch := self._next_batch():
            for line, size in batch:
                written = self._write(line)
                with self._changed:
                    self._waiting -= size
                    self._kept += written
                    self._lost += not written
        os.close(self._handle)

    def _next_batch(self) -> list[tuple[Line, int]]:
        """Waits for a line, then for those that come soon after; empty when all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closed)
            self._changed.wait_for(lambda: self._closed, self._interval)
            batch = list(self._lines)
            self._lines.clear()
            return batch

    def _write(self, line: Line) -> bool:
        try:
            data = line()
        except Exception:
            log.exception("A line of %s could not be built.", self._path)
            return False
        try:
            _append(self._handle, data + b"\n")
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, min(self._end, os.fstat(self._handle).st_size))
            if not self._failing:
                log.warning("%s takes no lines, serving goes on: %s", self._path, error)
            self._failing = True
            return False
        self._end = os.fstat(self._handle).st_size
        self._failing = False
        return True


def _open(path: Path, begin: bytes) -> tuple[int, int]:
    """A handle that appends, and the size of its whole lines. Raises LogError."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LogError(f"Can't write {path}: {error.strerror}.") from error
    try:
        return handle, _claim(handle, path, begin)
    except BaseException:
        os.close(handle)
        raise


def _claim(handle: int, path: Path, begin: bytes) -> int:
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LogError(f"Can't write {path}: it is no file.")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        first = os.pread(handle, len(begin), 0)
        if not begin.startswith(first):
            raise LogError(f"{path} holds something else already: name a new file.")
        os.fchmod(handle, 0o600)
        whole = whole_lines(handle)
        os.ftruncate(handle, whole)
    except BlockingIOError as error:
        raise LogError(f"Another server writes to {path}: give each its own.") from error
    except OSError as error:
        raise LogError(f"Can't write {path}: {error.strerror}.") from error
    return whole


def whole_lines(handle: int) -> int:
    """Bytes up to the end of the last line that has one."""
    at = os.fstat(handle).st_size
    while at:
        begin = max(0, at - PIECE)
        found = os.pread(handle, at - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    return 0


def _append(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
