"""Which chunks rest in a store, how large they are, and which is given up next.

The pool's eviction policies decide here too, as they are: every chunk is a node of one block, and
what they learn from is told by `used` when a request is over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from headstart.cache.keys import TOKEN_BYTES, BlockKey
from headstart.cache.node import Node
from headstart.cache.policies import Lru, Policy
from headstart.cache.pool import BlockId
from headstart.cache.visit import Visit
from headstart.stores.record import Record
from headstart.stores.reports import Report

Place = TypeVar("Place")

MOST_OPEN = 64
"""Ends just written that are spared because their requests still run."""
MOST_TOLD = 256
"""Requests that are remembered to be over until their last chunk is here."""
_BLOCK = BlockId(0)


@dataclass(slots=True, eq=False)
class Row(Generic[Place]):
    """One chunk at rest."""

    parent: BlockKey | None
    """None where its header can't be read: then it has no place in a chain."""
    first_position: int
    tokens: int
    """How many it holds."""
    born: int
    """When its KV was computed: larger is later."""
    size: int
    """Physical bytes."""
    stamp: int
    """When it was last used: larger is later."""
    place: Place
    """Where the store finds it."""
    uses: int = 0
    """Requests that reused it."""

    @property
    def depth(self) -> int:
        """Chunks before it in its chain."""
        return self.first_position // self.tokens


def row_of(record: Record, size: int, stamp: int, place: Place) -> Row[Place]:
    """A readable chunk's row."""
    tokens = len(record.tokens) // TOKEN_BYTES
    return Row(record.parent, record.first_position, tokens, record.created, size, stamp, place)


class LeafIndex(Generic[Place]):
    """Not safe for threads: its store holds a lock. As fast per chunk as its policy.

    A chunk is given up only when no chunk that continues it is here; among such leaves `policy`
    chooses. Nothing decides by a clock: stamps and order of arrival do.
    """

    __slots__ = (
        "_children",
        "_found",
        "_nodes",
        "_open",
        "_policy",
        "_root",
        "_rows",
        "_told",
        "bytes",
    )

    def __init__(self, policy: Policy | None = None) -> None:
        self._policy: Policy = Lru() if policy is None else policy
        self._rows: dict[BlockKey, Row[Place]] = {}
        self._nodes: dict[BlockKey, Node] = {}
        self._children: dict[BlockKey, dict[BlockKey, None]] = {}
        """By the parent's key, whether that one is here or not."""
        self._root = Node(None, b"", [], [BlockKey(b"")], 0)
        """Stands for every parent that isn't here."""
        self._open: dict[BlockKey, None] = {}
        self._found: dict[BlockKey, None] = {}
        """Like the open ones not on offer."""
        self._told: dict[BlockKey, tuple[Sequence[BlockKey], Visit]] = {}
        """Requests that are over, by their last chunk, which is not here yet."""
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

    def written(self, key: BlockKey, row: Row[Place]) -> None:
        """Enter a chunk that a request has computed; it replaces an earlier one of the same key.

        As an end it is not on offer until the request is over (`used`), or nothing else is; that
        holds for the last MOST_OPEN such ends.
        """
        self._enter(key, row)
        if (told := self._told.pop(key, None)) is not None:
            self._over(*told)
            return
        if key not in self._children:
            self._open[key] = None
        if row.parent is not None:
            self._open.pop(row.parent, None)
        if len(self._open) > MOST_OPEN:
            self._close(next(iter(self._open)))

    def found(self, key: BlockKey, row: Row[Place]) -> None:
        """Enter a chunk that was here before its store looked. On offer from `resume` on."""
        self._enter(key, row)
        self._found[key] = None

    def waiting(self) -> list[tuple[BlockKey, int]]:
        """What was found and isn't on offer yet, with its stamp.

        In the order of last use, of equals the deepest first.
        """
        rows = {key: self._rows[key] for key in self._found}
        order = sorted(rows, key=lambda key: (rows[key].stamp, -rows[key].depth, key))
        return [(key, rows[key].stamp) for key in order]

    def resume(self, key: BlockKey, now: float) -> None:
        """Put a found chunk on offer. If it is an end, a request was over there at `now`."""
        if key in self._found:
            del self._found[key]
            if key not in self._children:
                self._policy.ended(self._nodes[key], Visit(now=now))
                self._offer(self._nodes[key])

    def touch(self, key: BlockKey, stamp: int) -> None:
        """The chunk was used. An earlier stamp than its last is ignored."""
        row = self._rows.get(key)
        if row is not None and stamp > row.stamp:
            node = self._nodes[key]
            row.stamp = node.stamp = stamp
            if node.offered:
                self._policy.offer(node)

    def used(self, report: Report) -> None:
        """A request is over.

        Where its last chunk is still on its way, the policy is told when that one is written, or
        MOST_TOLD requests later.
        """
        keys, reused, stamp, visit = report
        again = [self._nodes[key] for key in keys[:reused] if key in self._nodes]
        for node in again:
            node.uses += 1
            self._rows[node.keys[0]].uses += 1
        if again:
            self._withdraw(again[-1])
            self._policy.reused(again[-1])
            self._offer(again[-1])
        for key in keys:
            self.touch(key, stamp)
        if keys and keys[-1] in self._nodes:
            self._over(keys, visit)
        elif keys:
            self._told[keys[-1]] = (keys, visit)
            if len(self._told) > MOST_TOLD:
                self._over(*self._told.pop(next(iter(self._told))))

    def remove(self, key: BlockKey) -> Row[Place] | None:
        """Forget a chunk."""
        row = self._rows.pop(key, None)
        if row is None:
            return None
        node = self._nodes.pop(key)
        self.bytes -= row.size
        self._open.pop(key, None)
        self._found.pop(key, None)
        self._policy.evicted(node, 1)
        self._withdraw(node)
        for child in self._children.get(key, ()):
            self._nodes[child].parent = self._root
        node.parent = None
        if row.parent is not None:
            siblings = self._children[row.parent]
            del siblings[key]
            if not siblings:
                del self._children[row.parent]
                if (parent := self._nodes.get(row.parent)) is not None:
                    self._offer(parent)
        return row

    def victim(self, spared: BlockKey | None = None) -> BlockKey | None:
        """The chunk to give up next, never `spared`; None when there is none.

        It stays until it is removed.
        """
        node = None if spared is None else self._nodes.get(spared)
        on_offer = node is not None and node.offered
        if node is not None:
            self._withdraw(node)
        if not len(self._policy):
            for key in [key for key in self._open if key != spared]:
                self._close(key)
        victim = self._policy.victim().keys[0] if len(self._policy) else None
        if node is not None and on_offer:
            self._policy.offer(node)
        return victim

    def _enter(self, key: BlockKey, row: Row[Place]) -> None:
        self.remove(key)
        parent = self._root if row.parent is None else self._nodes.get(row.parent, self._root)
        node = Node(parent, b"", [_BLOCK], [key], row.depth)
        node.born, node.stamp, node.uses = row.born, row.stamp, row.uses
        self._rows[key], self._nodes[key] = row, node
        self.bytes += row.size
        if row.parent is not None:
            self._children.setdefault(row.parent, {})[key] = None
            self._withdraw(parent)
        for child in self._children.get(key, ()):
            self._nodes[child].parent = node
        self._policy.published(node, 1)

    def _over(self, keys: Sequence[BlockKey], visit: Visit) -> None:
        """A request is over that used these chunks, as far as they are here."""
        path = [self._nodes[key] for key in keys if key in self._nodes]
        for node in path:
            self._withdraw(node)
        if path:
            self._policy.ended(path[-1], visit)
        for node in path:
            self._open.pop(node.keys[0], None)
            self._found.pop(node.keys[0], None)
            self._offer(node)

    def _close(self, key: BlockKey) -> None:
        del self._open[key]
        self._offer(self._nodes[key])

    def _offer(self, node: Node) -> None:
        key = node.keys[0]
        if key not in self._children and key not in self._open and key not in self._found:
            self._policy.offer(node)

    def _withdraw(self, node: Node) -> None:
        if node.offered:
            self._policy.withdraw(node)
