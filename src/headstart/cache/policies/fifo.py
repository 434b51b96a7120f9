"""First in, first out: what was computed first goes first, however often it was used."""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking


class Fifo(Ranking):
    """The `fifo` policy."""

    name: ClassVar[str] = "fifo"

    def rank(self, leaf: Node) -> int:
        """When its first block became findable."""
        return leaf.born
