"""Least recently used leaf first.

Only blocks that are held by nobody and have no cached child stand here, so a parent always outlives
its children. Blocks of one release share a stamp; among them the deepest goes first, by number,
never by the clock. O(log n) per block.
"""

from heapq import heapify, heappop, heappush

from headstart.cache.pool import BlockId


class LeafLru:
    """The order in which cached leaves are given up."""

    __slots__ = ("_heap", "_stamps")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, BlockId]] = []
        self._stamps: dict[BlockId, int] = {}

    def __contains__(self, block: BlockId) -> bool:
        return block in self._stamps

    def __len__(self) -> int:
        return len(self._stamps)

    def add(self, block: BlockId, *, stamp: int, depth: int) -> None:
        """Offer a leaf, last used at `stamp` (a serial number), `depth` blocks from the root."""
        self._stamps[block] = stamp
        heappush(self._heap, (stamp, -depth, block))
        if len(self._heap) > 2 * len(self._stamps) + 64:
            self._drop_withdrawn()

    def discard(self, block: BlockId) -> None:
        """Withdraw a leaf: it is in use again or has a child now."""
        self._stamps.pop(block, None)

    def pop(self) -> BlockId:
        """The leaf to give up. Raises IndexError when there is none."""
        while True:
            stamp, _, block = heappop(self._heap)
            if self._stamps.get(block) == stamp:
                del self._stamps[block]
                return block

    def clear(self) -> None:
        """Withdraw everything."""
        self._heap.clear()
        self._stamps.clear()

    def _drop_withdrawn(self) -> None:
        self._heap = [entry for entry in self._heap if self._stamps.get(entry[2]) == entry[0]]
        heapify(self._heap)
