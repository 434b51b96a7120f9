"""How cached prefixes are found. Two ways behind one protocol; `INDEXES` names them."""

from typing import Protocol

from headstart.cache.keys import BlockKey, Chain
from headstart.cache.node import Found, Node
from headstart.cache.pool import BlockId


class PrefixIndex(Protocol):
    """Shapes the tree below a root and finds the way through it. Owns no block, counts nothing."""

    def find(self, root: Node, chain: Chain, size: int) -> Found:
        """The longest cached prefix of the first `size` bytes of `chain`. Changes no node."""
        ...

    def cut(self, node: Node, depth: int) -> Node:
        """The node on the way to `node` that ends at `depth`, made by a split if need be."""
        ...

    def extend(
        self, node: Node, label: bytes, blocks: list[BlockId], keys: list[BlockKey], *, alone: bool
    ) -> Node:
        """Put full blocks behind `node`; none of its children may begin like them.

        `alone`: `node` has no child and one holder, who puts them there. Returns the last node.
        """
        ...

    def drop(self, node: Node, count: int) -> None:
        """The last `count` blocks of a leaf are given up; called before they are taken off."""
        ...

    def clear(self) -> None:
        """Everything is given up."""
        ...

    def audit(self, nodes: list[Node]) -> None:
        """Check what it remembers against all findable `nodes`. Raises CacheCorrupt."""
        ...
