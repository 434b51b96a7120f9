"""Which chunks rest in a store, how large they are, and which is given up next: leaf-first LRU."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from headstart.cache.keys import BlockKey

Place = TypeVar("Place")


@dataclass(slots=True)
class Row(Generic[Place]):
    """One chunk at rest."""

    parent: BlockKey | None
    """None where its header can't be read: then it has no place in a chain."""
    first_position: int
    size: int
    """Physical bytes."""
    stamp: int
    """When it was last used: larger is later."""
    place: Place
    """Where the store finds it."""


class LeafIndex(Generic[Place]):
    """Not safe for threads: its store holds a lock. O(log n) per chunk.

    A chunk is given up only when no chunk that continues it is here. Among leaves the one used
    longest ago goes first; of equals the deepest.
    """

    __slots__ = ("_children", "_heap", "_rows", "bytes")

    def __init__(self) -> None:
        self._rows: dict[BlockKey, Row[Place]] = {}
        self._children: dict[BlockKey, int] = {}
        self._heap: list[tuple[int, int, BlockKey]] = []
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[BlockKey]:
        return iter(self._rows)

    def __contains__(self, key: BlockKey) -> bool:
        return key in self._rows

    def get(self, key: BlockKey) -> Row[Place] | None:
        """The chunk's row. Change it only by the methods here."""
        return self._rows.get(key)

    def add(self, key: BlockKey, row: Row[Place]) -> None:
        """Enter a chunk; it replaces an earlier one of the same key."""
        self.remove(key)
        self._rows[key] = row
        self.bytes += row.size
        if row.parent is not None:
            self._children[row.parent] = self._children.get(row.parent, 0) + 1
        self._offer(key)

    def touch(self, key: BlockKey, stamp: int) -> None:
        """The chunk was used. An earlier stamp than its last is ignored."""
        row = self._rows.get(key)
        if row is not None and stamp > row.stamp:
            row.stamp = stamp
            self._offer(key)

    def remove(self, key: BlockKey) -> Row[Place] | None:
        """Forget a chunk."""
        row = self._rows.pop(key, None)
        if row is None:
            return None
        self.bytes -= row.size
        if row.parent is not None:
            self._children[row.parent] -= 1
            if not self._children[row.parent]:
                del self._children[row.parent]
                self._offer(row.parent)
        return row

    def victim(self) -> BlockKey | None:
        """The chunk to give up next; None when there is none. It stays until it is removed."""
        while self._heap:
            stamp, _, key = self._heap[0]
            row = self._rows.get(key)
            if row is not None and row.stamp == stamp and key not in self._children:
                return key
            heappop(self._heap)
        return None

    def _offer(self, key: BlockKey) -> None:
        row = self._rows.get(key)
        if row is None or key in self._children:
            return
        heappush(self._heap, (row.stamp, -row.first_position, key))
        if len(self._heap) > 2 * len(self._rows) + 64:
            self._heap = [
                (row.stamp, -row.first_position, key)
                for key, row in self._rows.items()
                if key not in self._children
            ]
            heapify(self._heap)
