"""The files of one recording as one stream: by their clocks, or one after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import TypeVar

Row = TypeVar("Row")


class Files:
    """Puts rows of several files in one order, and remembers when each file begins and ends."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._spans: dict[int, tuple[float, float]] = {}
        """By file, its first and its last moment."""

    def by_clock(
        self, files: Sequence[Iterable[Row]], time: Callable[[Row], float]
    ) -> Iterator[Row]:
        """Rows by their times in seconds; of equal ones, the file first that was named first.

        A file keeps its own order: a row that is earlier than the one before it comes right behind
        that, as a cache would meet it. One row of each file is held.
        """
        if self._count == 1:
            return iter(files[0])
        clocks = (self._clocked(at, file, time) for at, file in enumerate(files))
        return (row for _, row in merge(*clocks, key=itemgetter(0)))

    def _clocked(
        self, at: int, rows: Iterable[Row], time: Callable[[Row], float]
    ) -> Iterator[tuple[float, Row]]:
        begin: float | None = None
        now = 0.0
        for row in rows:
            now = time(row) if begin is None else max(now, time(row))
            begin = now if begin is None else begin
            self._spans[at] = begin, now
            yield now, row

    @property
    def note(self) -> str:
        """What was done, once all is read."""
        begins = sorted(self._spans.values())
        overlap, until = 0.0, float("-inf")
        for begin, end in begins:
            overlap += max(0.0, min(until, end) - begin)
            until = max(until, end)
        if not begins:
            return f"{self._count} files without times, one after the other as they were named."
        if not overlap:
            return f"{self._count} files, one after the other by their clocks."
        return (
            f"{self._count} files, merged by their times as those of one clock: for"
            f" {shown(overlap)} they ran at once."
        )


def shown(seconds: float) -> str:
    """A time for people."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:g} s"
