"""The prefix tree: nodes are edges of one or more blocks, a path from the root is a prefix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headstart.cache.children import Children
from headstart.cache.keys import BlockKey, Namespace
from headstart.cache.pool import BlockId


class Node:
    """Blocks that follow one another and share their fate.

    Either every block is full, or the node is a *tail*: one block, partly filled, without children.
    """

    __slots__ = (
        "blocks",
        "born",
        "children",
        "gates",
        "holders",
        "keys",
        "label",
        "mark",
        "note",
        "offered",
        "order",
        "parent",
        "pins",
        "stamp",
        "start",
        "used",
        "uses",
    )

    def __init__(
        self,
        parent: "Node | None",
        label: bytes | bytearray,
        blocks: list[BlockId],
        keys: list[BlockKey],
        start: int,
    ) -> None:
        self.parent = parent
        """None for a root, and for a node that is no longer in its tree."""
        self.label = label if isinstance(label, bytearray) else bytearray(label)
        """The tokens, packed as `keys.token_bytes` does."""
        self.blocks = blocks
        self.keys = keys
        """One per full block, and one of a root's own."""
        self.start = start
        """Blocks between the root and this node."""
        self.children = Children()
        self.gates = 0
        """Roots that stand on its end."""
        self.used = 0.0
        """When it was last computed, reused or let go, on the cache's clock."""
        self.holders = 0
        """Leases whose prefix ends here, and children that are held."""
        self.stamp = 0
        """Serial number of the moment it was last let go or asked for."""
        self.pins = 0
        """Pins whose prefix ends here, and children with any."""
        self.born = 0
        """Serial number of the moment it became findable."""
        self.uses = 0
        """Requests that reused it."""
        self.offered = False
        """Whether the policy may name it as a victim."""
        self.mark = 0
        """The policy's own, like `order` and `note`."""
        self.order = 0
        self.note: Any = None

    @property
    def end(self) -> int:
        """Blocks between the root and what follows this node."""
        return self.start + len(self.blocks)

    @property
    def tail(self) -> bool:
        """Whether its one block is partly filled: it has no key then."""
        return not self.keys

    def key_before(self, depth: int) -> BlockKey:
        """The key that the block at `depth` is chained to; `depth` is at most `end`."""
        if not self.blocks:
            return self.keys[depth]
        if depth == self.start:
            assert self.parent is not None
            return self.parent.keys[-1]
        return self.keys[depth - self.start - 1]

    def block_before(self, depth: int) -> BlockKey | None:
        """The key of the findable block before `depth`; None where a prompt begins."""
        if depth > self.start:
            return self.keys[depth - self.start - 1]
        before = self.parent
        while isinstance(before, Root):
            before = before.parent
        return None if before is None else before.keys[-1]

    def behind_gate(self, depth: int) -> bool:
        """Whether the block at `depth` is the first of its namespace, behind a shared prefix."""
        gate = self.parent
        return depth == self.start > 0 and isinstance(gate, Root)

    def block_at(self, depth: int) -> BlockId:
        """The block `depth` blocks from the root; it must be one of this node's."""
        return self.blocks[depth - self.start]


class Root(Node):
    """The empty prefix of a namespace. Its key is what first blocks are chained to.

    Or a *gate*: where a namespace goes on behind a prefix that it shares with others. It has a
    parent then, the end of that prefix, of which it is no child: others must not find it. Its keys
    are those that its namespace has for the prefix.
    """

    __slots__ = ("namespace",)

    def __init__(
        self,
        namespace: Namespace,
        key: BlockKey,
        shared: Node | None = None,
        keys: Sequence[BlockKey] = (),
    ) -> None:
        super().__init__(shared, b"", [], [key, *keys], len(keys))
        self.namespace = namespace


def path_to(node: Node) -> list[Node]:
    """The nodes from the root to `node`."""
    path = []
    at: Node | None = node
    while at is not None:
        path.append(at)
        at = at.parent
    path.reverse()
    return path


def blocks_to(node: Node) -> list[BlockId]:
    """All blocks from the root to the end of `node`."""
    blocks: list[BlockId] = []
    for at in path_to(node):
        blocks += at.blocks
    return blocks


@dataclass(slots=True)
class Found:
    """The longest cached prefix of a sequence."""

    node: Node
    """The deepest node of which at least one whole block matches; the root if there is none."""
    depth: int
    """Whole blocks that match, counted from the root."""
    beside: Node | None
    """The node whose block at `depth` begins like what follows, if there is one."""
    tokens: int
    """How many tokens of that block match."""
