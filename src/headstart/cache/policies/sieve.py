"""SIEVE: a hand sweeps from the oldest to the newest, spares once what was reused (NSDI 2024).

The hand's way round a queue is an order of (sweep, born): who is spared waits for the next sweep,
who is new is met at the end of this one.
"""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking


class Sieve(Ranking):
    """The `sieve` policy. A node's `mark` is 1 since it was reused, `order` is its sweep."""

    name: ClassVar[str] = "sieve"

    def __init__(self) -> None:
        super().__init__()
        self._sweep = 0

    def rank(self, leaf: Node) -> tuple[int, int]:
        """When the hand comes by."""
        return leaf.order, leaf.born

    def published(self, node: Node, blocks: int) -> None:
        """A new node stands at the end of this sweep."""
        if blocks == len(node.blocks):
            node.order = self._sweep

    def split(self, upper: Node, lower: Node) -> None:
        """Both stand where they stood as one."""
        upper.mark, upper.order = lower.mark, lower.order

    def reused(self, node: Node) -> None:
        """All of the prefix is spared once."""
        at: Node | None = node
        while at is not None:
            at.mark = 1
            at = at.parent

    def spared(self, leaf: Node) -> bool:
        """Once, if it was reused since the hand came by."""
        self._sweep = max(self._sweep, leaf.order)
        if not leaf.mark:
            return False
        leaf.mark = 0
        leaf.order = self._sweep + 1
        return True
