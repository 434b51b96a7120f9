"""Which blocks are free. Hands out runs of neighbours where it can.

Attention reads a run of neighbouring blocks as one view of the pool, so the fewer runs a sequence
has, the cheaper its every step. The pool therefore continues behind a sequence's last block, else
takes the first gap that is long enough, and leaves room to grow before the next sequence begins.
"""

from typing import NewType

BlockId = NewType("BlockId", int)


class BlockPool:
    """Free blocks as a byte map, searched at memory speed. Counts nothing but what is free."""

    __slots__ = ("_cursor", "_free", "free", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.free = total
        self._free = bytearray(b"\x01" * total)
        self._cursor = 0
        """Where the search begins: behind what was taken last, or at what was given back since."""

    def is_free(self, block: BlockId) -> bool:
        """Whether nobody has the block."""
        return self._free[block] == 1

    def take(self, count: int, *, after: BlockId | None = None, room: int = 0) -> list[BlockId]:
        """`count` blocks in the order they will be filled; the caller checks `free` first.

        `after`: the sequence's last block, continued if its neighbour is free. `room`: how many
        blocks the sequence is expected to grow by; left free behind it as far as the map allows.
        """
        if count > self.free:
            raise ValueError(f"{count} blocks wanted, {self.free} free")
        taken: list[BlockId] = []
        if after is not None and count:
            begin = after + 1
            end = self._free.find(0, begin, begin + count)
            self._claim(begin, min(begin + count, self.total) if end < 0 else end, taken)
        run = count - len(taken)
        room = min(room, self.free - run)
        while len(taken) < count:
            run = min(run, count - len(taken))
            start = self._find(run + room)
            if start < 0 and room:
                room = 0
                continue
            if start < 0:
                run = (run + 1) // 2
                continue
            self._claim(start, start + run, taken)
            self._cursor = (start + run + room) % self.total
        return taken

    def give(self, block: BlockId) -> None:
        """Take a block back. Giving one back twice is a defect of the caller and raises."""
        if self._free[block]:
            raise ValueError(f"block {block} is free already")
        self._free[block] = 1
        self.free += 1
        if self.free == 1 or block + 1 == self._cursor:
            self._cursor = block  # A prefix shrinks from its end: this is where its gap begins.

    def _claim(self, begin: int, end: int, taken: list[BlockId]) -> None:
        self._free[begin:end] = bytes(end - begin)
        self.free -= end - begin
        taken.extend(map(BlockId, range(begin, end)))

    def _find(self, run: int) -> int:
        pattern = b"\x01" * run
        start = self._free.find(pattern, self._cursor)
        return start if start >= 0 else self._free.find(pattern)
