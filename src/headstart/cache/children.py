"""A node's children, found by their first block or by what comes closest to it."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headstart.cache.keys import TOKEN_BYTES

if TYPE_CHECKING:
    from headstart.cache.node import Node

_CHUNK = 512


def common_tokens(one: bytes, other: bytes) -> int:
    """How many leading tokens two packed sequences share."""
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size // TOKEN_BYTES
    differ = int.from_bytes(one[:size], "little") ^ int.from_bytes(other[:size], "little")
    return ((differ & -differ).bit_length() - 1) // (8 * TOKEN_BYTES)


class Children:
    """Children by the packed tokens of their first block, which may be a partly filled one.

    Everything is O(log n) with n children.
    """

    __slots__ = ("_nodes", "_order")

    def __init__(self) -> None:
        self._nodes: dict[bytes, Node] = {}
        self._order: _Sorted | None = None
        """Only from the second child on: most nodes have one."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> "Iterator[Node]":
        return iter(self._nodes.values())

    def get(self, first: bytes) -> "Node | None":
        """The child whose first block is `first`."""
        return self._nodes.get(first)

    def nearest(self, first: bytes) -> "tuple[Node | None, int]":
        """A child whose first block begins most like `first`, and how many tokens they share."""
        best, most = None, 0
        candidates = self._nodes if self._order is None else self._order.around(first)
        for key in candidates:
            tokens = common_tokens(key, first)
            if tokens > most:
                best, most = self._nodes[key], tokens
        return best, most

    def beginnings(self, first: bytes) -> "list[Node]":
        """The children whose first block `first` begins with, but goes on from."""
        found = []
        while first:
            # The longest of them stands before `first`, behind others that only share its begin.
            before = self._before(first)
            if before is None:
                break
            shared = common_tokens(before, first) * TOKEN_BYTES
            first = first[:shared]
            if len(before) == shared:
                found.append(self._nodes[before])
            elif first in self._nodes:
                found.append(self._nodes[first])
        return found

    def _before(self, first: bytes) -> bytes | None:
        if self._order is not None:
            return self._order.before(first)
        return next((key for key in self._nodes if key < first), None)

    def after(self, first: bytes) -> bytes | None:
        """The first block that follows that of the child `first` in order."""
        return None if self._order is None else self._order.after(first)

    def add(self, first: bytes, node: "Node") -> None:
        """Add a child; none with this first block may be here."""
        assert first not in self._nodes
        self._nodes[first] = node
        if self._order is not None:
            self._order.add(first)
        elif len(self._nodes) > 1:
            self._order = _Sorted(self._nodes)

    def replace(self, first: bytes, node: "Node") -> None:
        """Put another node in the place of the child that begins with `first`."""
        assert first in self._nodes
        self._nodes[first] = node

    def remove(self, first: bytes) -> None:
        """Remove the child that begins with `first`."""
        del self._nodes[first]
        if self._order is not None:
            self._order.remove(first)


class _Sorted:
    """Byte strings in order, in chunks, so that no operation moves more than a chunk.

    In lexicographic order the string with the longest common prefix stands next to where the
    wanted one would be.
    """

    __slots__ = ("_chunks",)

    def __init__(self, keys: "Iterator[bytes] | dict[bytes, Node]") -> None:
        self._chunks = [sorted(keys)]

    def around(self, key: bytes) -> list[bytes]:
        """The neighbours of where `key` stands or would stand."""
        at = self._chunk(key)
        chunk = self._chunks[at]
        place = bisect_left(chunk, key)
        found = chunk[max(0, place - 1) : place + 1]
        if place == len(chunk) and at + 1 < len(self._chunks):
            found.append(self._chunks[at + 1][0])
        return found

    def before(self, key: bytes) -> bytes | None:
        at = self._chunk(key)
        chunk = self._chunks[at]
        place = bisect_left(chunk, key)
        if place:
            return chunk[place - 1]
        return self._chunks[at - 1][-1] if at else None

    def after(self, key: bytes) -> bytes | None:
        at = self._chunk(key)
        chunk = self._chunks[at]
        place = bisect_right(chunk, key)
        if place < len(chunk):
            return chunk[place]
        return self._chunks[at + 1][0] if at + 1 < len(self._chunks) else None

    def add(self, key: bytes) -> None:
        at = self._chunk(key)
        chunk = self._chunks[at]
        insort(chunk, key)
        if len(chunk) > 2 * _CHUNK:
            self._chunks[at : at + 1] = [chunk[:_CHUNK], chunk[_CHUNK:]]

    def remove(self, key: bytes) -> None:
        at = self._chunk(key)
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, key)]
        if not chunk and len(self._chunks) > 1:
            del self._chunks[at]

    def _chunk(self, key: bytes) -> int:
        """The last chunk that begins at or before `key`, else the first."""
        low, high = 0, len(self._chunks) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._chunks[middle][0] <= key:
                low = middle
            else:
                high = middle - 1
        return low
