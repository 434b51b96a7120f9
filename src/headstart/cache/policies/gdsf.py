"""Greedy-Dual-Size-Frequency: what is worth least per byte goes first.

Worth of a block = how often it was used times what computing it again costs, over its size, plus an
age that rises with every eviction, so that what was valuable once goes in the end (Cherkasova 1998;
Cao and Irani 1997). All blocks have one size, so cost per block remains. A token at depth d costs
2N FLOPs in the linear layers and 4·L·d·d_q in attention, that is (1 + d / D) times the first, with
D = N / (2·L·d_q): 61,000 tokens for an 8B model.
"""

from typing import ClassVar

from headstart.cache.node import Node
from headstart.cache.policies.base import Ranking

EQUAL_COST_DEPTH = 61_000
"""Tokens: where attention over what lies before costs as much as the linear layers."""


class Gdsf(Ranking):
    """The `gdsf` policy."""

    name: ClassVar[str] = "gdsf"

    def __init__(self, block_size: int = 16, equal_cost_depth: int = EQUAL_COST_DEPTH) -> None:
        super().__init__()
        self._depth = equal_cost_depth / block_size
        self._age = 0.0

    def rank(self, leaf: Node) -> tuple[float, int]:
        """Its worth, then when it was last let go."""
        cost = 1 + leaf.end / self._depth
        return self._age + (1 + leaf.uses) * cost, leaf.stamp

    def evicted(self, leaf: Node, blocks: int) -> None:
        """The age is the worth of what went last."""
        self._age = max(self._age, self._ranks.get(leaf, (0.0, 0))[0])
