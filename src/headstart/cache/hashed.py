"""A dict from block keys to blocks: every block is a node, found by the hash of its prefix.

What vLLM does, and what tiers and routers speak. A prompt is hashed from its first block on.
"""

from headstart.cache.errors import check
from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain
from headstart.cache.node import Found, Node
from headstart.cache.pool import BlockId


class HashIndex:
    """The `hash` prefix index."""

    name = "hash"

    def __init__(self, block_size: int) -> None:
        self._width = block_size * TOKEN_BYTES
        self._nodes: dict[BlockKey, Node] = {}

    def find(self, root: Node, chain: Chain, size: int) -> Found:
        """Bisects the chain of keys: the index is prefix-closed. O(log n), hashing aside."""
        width = self._width
        low, high = root.start, size // width
        keys = chain.keys(high)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] in self._nodes:
                low = middle + 1
            else:
                high = middle
        node = self._nodes[keys[low - 1]] if low > root.start else root
        rest = bytes(chain.data[low * width : min((low + 1) * width, size)])
        beside, tokens = node.children.nearest(rest)
        return Found(node, low, beside, tokens)

    def cut(self, node: Node, depth: int) -> Node:
        """Every block ends a node."""
        while node.end > depth:
            assert node.parent is not None
            node = node.parent
        return node

    def extend(
        self,
        node: Node,
        label: bytes,
        blocks: list[BlockId],
        keys: list[BlockKey],
        *,
        alone: bool,  # noqa: ARG002 (a chain of blocks grows the same way for all)
    ) -> Node:
        """A node for every block."""
        width = self._width
        for at, (block, key) in enumerate(zip(blocks, keys, strict=True)):
            piece = label[at * width : (at + 1) * width]
            child = Node(node, piece, [block], [key], node.end)
            node.children.add(piece, child)
            self._nodes[key] = child
            node = child
        return node

    def drop(self, node: Node, count: int) -> None:
        """Forget the keys."""
        for key in node.keys[len(node.keys) - count :]:
            self._nodes.pop(key, None)  # Gone already where a reset came before.

    def clear(self) -> None:
        """Forget every key."""
        self._nodes.clear()

    def audit(self, nodes: list[Node]) -> None:
        """Every node stands under its key, and nothing else does."""
        keyed = [node for node in nodes if not node.tail]
        for node in keyed:
            check(len(node.blocks) == 1, node, "more than one block under one key")
            check(self._nodes.get(node.keys[0]) is node, node, "not where the index says")
        check(len(self._nodes) == len(keyed), None, "index and tree differ in number")
