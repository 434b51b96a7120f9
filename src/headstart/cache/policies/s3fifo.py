"""S3-FIFO: a small queue on trial before the main one, and a memory of who failed (SOSP 2023).

A tenth of the blocks stand in the small queue. Who leaves it reused more than once moves to the
main queue, else it is given up and its keys are remembered: if they come back, they go to the main
queue at once. The main queue gives another round for every reuse, three at most.
"""

from collections import OrderedDict
from typing import ClassVar

from headstart.cache.keys import BlockKey
from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking

SMALL_SHARE = 0.1
MOST_USES = 3


class S3Fifo(Ranking):
    """The `s3fifo` policy. `mark` counts reuses; `order` > 0 is a place in the main queue."""

    name: ClassVar[str] = "s3fifo"

    def __init__(self) -> None:
        super().__init__()
        self._main = _Main()
        self._small_blocks = 0
        self._blocks = 0
        self._ghosts: OrderedDict[BlockKey, None] = OrderedDict()

    def __len__(self) -> int:
        """Leaves of both queues."""
        return super().__len__() + len(self._main)

    def rank(self, leaf: Node) -> int:
        """When it came."""
        return leaf.born

    def published(self, node: Node, blocks: int) -> None:
        """To the small queue, or where the edge stands that is lengthened."""
        self._blocks += blocks
        new = blocks == len(node.blocks)
        if new and node.keys and node.keys[0] in self._ghosts:
            self._main.enter(node)
        if not node.order:
            self._small_blocks += blocks

    def split(self, upper: Node, lower: Node) -> None:
        """Both stand where they stood as one."""
        upper.mark, upper.order = lower.mark, lower.order

    def reused(self, node: Node) -> None:
        """One use more for all of the prefix."""
        at: Node | None = node
        while at is not None:
            at.mark = min(at.mark + 1, MOST_USES)
            at = at.parent

    def offer(self, leaf: Node) -> None:
        """To its queue."""
        if leaf.order:
            self._main.offer(leaf)
        else:
            super().offer(leaf)

    def withdraw(self, leaf: Node) -> None:
        """From its queue."""
        self._main.withdraw(leaf)
        super().withdraw(leaf)

    def victim(self) -> Node:
        """From the small queue while it has its share, else from the main one."""
        while super().__len__() and (
            self._small_blocks > SMALL_SHARE * self._blocks or not len(self._main)
        ):
            leaf = super().victim()
            if leaf.mark < 2:
                return leaf
            super().withdraw(leaf)
            self._small_blocks -= len(leaf.blocks)
            leaf.mark = 0
            self._main.enter(leaf)
            self._main.offer(leaf)
        return self._main.victim()

    def evicted(self, leaf: Node, blocks: int) -> None:
        """Who failed on trial is remembered, as many blocks as the main queue has."""
        self._blocks -= blocks
        if leaf.order:
            return
        self._small_blocks -= blocks
        for key in leaf.keys[len(leaf.keys) - blocks :]:
            self._ghosts[key] = None
        while len(self._ghosts) > max(1, self._blocks - self._small_blocks):
            self._ghosts.popitem(last=False)

    def clear(self) -> None:
        """Start over."""
        super().clear()
        self._main.clear()
        self._small_blocks = self._blocks = 0
        self._ghosts.clear()


class _Main(Ranking):
    """The main queue, by when a node entered it."""

    def __init__(self) -> None:
        super().__init__()
        self._entered = 0

    def enter(self, node: Node) -> None:
        self._entered += 1
        node.order = self._entered

    def rank(self, leaf: Node) -> int:
        return leaf.order

    def spared(self, leaf: Node) -> bool:
        if not leaf.mark:
            return False
        leaf.mark -= 1
        self.enter(leaf)
        return True
