"""Segmented LRU: what was reused is protected from what was used once (Karedla et al., 1994).

The protected segment holds at most half of what is findable; the least recent leaf beyond that goes
back to the others, as the most recent of them.
"""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking
from headstart.cache.policies.lru import Lru

PROTECTED_SHARE = 0.5


class Slru(Ranking):
    """The `slru` policy. A node's `mark` is 1 while it is protected."""

    name: ClassVar[str] = "slru"

    def __init__(self) -> None:
        super().__init__()
        self._kept = Lru()
        self._kept_blocks = 0
        self._blocks = 0
        self._latest = 0

    def __len__(self) -> int:
        """Leaves of both segments."""
        return super().__len__() + len(self._kept)

    def rank(self, leaf: Node) -> int:
        """When it was last let go, or sent back."""
        return max(leaf.stamp, leaf.order)

    def published(self, node: Node, blocks: int) -> None:
        """New blocks are unprotected, unless they lengthen a protected edge."""
        self._blocks += blocks
        self._kept_blocks += blocks * node.mark

    def split(self, upper: Node, lower: Node) -> None:
        """Both stay in their segment."""
        upper.mark, upper.order = lower.mark, lower.order

    def reused(self, node: Node) -> None:
        """All of the prefix is protected now."""
        at: Node | None = node
        while at is not None:
            if not at.mark:
                at.mark = 1
                self._kept_blocks += len(at.blocks)
            at = at.parent

    def offer(self, leaf: Node) -> None:
        """To its segment."""
        self._latest = max(self._latest, leaf.stamp)
        if leaf.mark:
            self._kept.offer(leaf)
        else:
            super().offer(leaf)

    def withdraw(self, leaf: Node) -> None:
        """From its segment."""
        self._kept.withdraw(leaf)
        super().withdraw(leaf)

    def victim(self) -> Node:
        """The least recent unprotected leaf, once the protected are no more than their share."""
        while self._kept_blocks > PROTECTED_SHARE * self._blocks and len(self._kept):
            leaf = self._kept.victim()
            self._kept.withdraw(leaf)
            self._kept_blocks -= len(leaf.blocks)
            leaf.mark, leaf.order = 0, self._latest
            super().offer(leaf)
        return super().victim() if super().__len__() else self._kept.victim()

    def evicted(self, leaf: Node, blocks: int) -> None:
        """Blocks less in its segment."""
        self._blocks -= blocks
        self._kept_blocks -= blocks * leaf.mark

    def clear(self) -> None:
        """Start over."""
        super().clear()
        self._kept.clear()
        self._kept_blocks = self._blocks = 0
