"""Least frequently used first, the least recent among equals. Never forgets: old fame stays."""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking


class Lfu(Ranking):
    """The `lfu` policy."""

    name: ClassVar[str] = "lfu"

    def rank(self, leaf: Node) -> tuple[int, int]:
        """How many requests reused it, then when it was last let go."""
        return leaf.uses, leaf.stamp
