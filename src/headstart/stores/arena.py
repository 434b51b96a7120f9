"""Extents of one fixed stretch of memory: first fit, freed neighbours grow together."""

from bisect import bisect_left

Extent = tuple[int, int]
"""Start and length in bytes."""


class Extents:
    """Which parts of `size` bytes are free. Not safe for threads."""

    __slots__ = ("_free",)

    def __init__(self, size: int) -> None:
        self._free: list[Extent] = [(0, size)] if size else []

    @property
    def free(self) -> int:
        """Bytes, in one piece or not."""
        return sum(length for _, length in self._free)

    def take(self, length: int) -> Extent | None:
        """An extent of that length, or None where no free piece is as long."""
        for i, (start, room) in enumerate(self._free):
            if room >= length:
                self._free[i : i + 1] = [(start + length, room - length)] if room > length else []
                return (start, length)
        return None

    def give(self, extent: Extent) -> None:
        """Take an extent back. Raises ValueError where part of it is free already."""
        start, length = extent
        at = bisect_left(self._free, extent)
        before = self._free[at - 1] if at else (0, 0)
        after = self._free[at] if at < len(self._free) else (start + length, 0)
        if before[0] + before[1] > start or start + length > after[0]:
            raise ValueError(f"bytes {start} to {start + length} are not all taken")
        low, high = at, at
        if at and before[0] + before[1] == start:
            low, start, length = at - 1, before[0], length + before[1]
        if after[1] and start + length == after[0]:
            high, length = at + 1, length + after[1]
        self._free[low:high] = [(start, length)]
