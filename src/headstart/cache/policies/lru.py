"""Least recently used leaf first.

Blocks that were let go together share a stamp, and a leaf gives up its last block first, so a
prefix shrinks from its end. Stamps are serial numbers: equal clock readings can't reorder them.
"""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking


class Lru(Ranking):
    """The `lru` policy."""

    name: ClassVar[str] = "lru"

    def rank(self, leaf: Node) -> int:
        """When it was last let go."""
        return leaf.stamp
