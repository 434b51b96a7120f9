"""A radix tree over token ids: edges of any length, compared at memory speed, no hash looked up.

Edges are whole blocks long, since a block belongs to one node. Two prefixes that part inside a
block have a block each from there on; how far these agree is found all the same (`Found.beside`).
"""

from headstart.cache.children import common_tokens
from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain
from headstart.cache.node import Found, Node
from headstart.cache.pool import BlockId


class RadixIndex:
    """The `radix` prefix index."""

    name = "radix"

    def __init__(self, block_size: int) -> None:
        self._width = block_size * TOKEN_BYTES

    def find(self, root: Node, chain: Chain, size: int) -> Found:
        """Walks down by edges: O(nodes on the path), plus a comparison of the tokens."""
        width, data = self._width, chain.data
        node, at = root, root.start * width
        while at < size:
            first = bytes(data[at : min(at + width, size)])
            child = node.children.get(first)
            if child is None or child.tail:
                beside, tokens = node.children.nearest(first)
                return Found(node, at // width, beside, tokens)
            edge = len(child.label)
            if at + edge <= size and data.startswith(child.label, at):
                node, at = child, at + edge
                continue
            whole = self._common_blocks(child.label, data, at, size)
            node, at = child, at + whole * width
            rest = bytes(child.label[whole * width : (whole + 1) * width])
            tokens = common_tokens(rest, bytes(data[at : min(at + width, size)]))
            return Found(node, at // width, child if tokens else None, tokens)
        return Found(node, at // width, None, 0)

    def cut(self, node: Node, depth: int) -> Node:
        """O(1), or a copy of the edge."""
        while node.end != depth and node.parent is not None and node.start >= depth:
            node = node.parent
        if node.end == depth:
            return node
        return self._split(node, depth - node.start)

    def extend(
        self, node: Node, label: bytes, blocks: list[BlockId], keys: list[BlockKey], *, alone: bool
    ) -> Node:
        """A branch that only its owner uses grows in place, so a conversation stays one edge."""
        if alone and node.blocks:  # A root has none.
            node.label += label
            node.blocks += blocks
            node.keys += keys
            return node
        child = Node(node, label, blocks, keys, node.end)
        node.children.add(label[: self._width], child)
        return child

    def drop(self, node: Node, count: int) -> None:
        """Nothing is remembered beside the tree."""

    def clear(self) -> None:
        """Nothing is remembered beside the tree."""

    def audit(self, nodes: list[Node]) -> None:
        """Nothing is remembered beside the tree."""

    def _common_blocks(self, label: bytearray, data: bytearray, at: int, size: int) -> int:
        """Whole blocks that `label` and `data` from `at` share, by halving what is compared."""
        width = self._width
        low, high = 0, min(len(label), size - at) // width
        while low < high:
            middle = (low + high + 1) // 2
            if label[low * width : middle * width] == data[at + low * width : at + middle * width]:
                low = middle
            else:
                high = middle - 1
        return low

    def _split(self, node: Node, count: int) -> Node:
        """Put the first `count` blocks into a node of their own above `node`.

        Whoever holds `node` holds its end, so it stays the lower part.
        """
        width, parent = self._width, node.parent
        assert parent is not None
        upper = Node(
            parent,
            node.label[: count * width],
            node.blocks[:count],
            node.keys[:count],
            node.start,
        )
        upper.holders = min(node.holders, 1)
        upper.pins = min(node.pins, 1)
        upper.stamp = node.stamp
        parent.children.replace(bytes(node.label[:width]), upper)
        del node.label[: count * width], node.blocks[:count], node.keys[:count]
        node.start += count
        node.parent = upper
        upper.children.add(bytes(node.label[:width]), node)
        return upper
