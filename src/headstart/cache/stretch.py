"""Full blocks that follow one another on one path, with all that identifies them."""

from collections.abc import Iterator
from dataclasses import dataclass

from headstart.cache.keys import BlockKey, Namespace
from headstart.cache.node import Node, Root
from headstart.cache.pool import BlockId


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is in the blocks is said by `namespace`, `parent` and `tokens`."""

    namespace: Namespace
    first: int
    """Blocks before them."""
    parent: BlockKey
    """The key that the first of them is chained to."""
    key: BlockKey
    """Of the last one."""
    blocks: list[BlockId]
    tokens: bytes
    """Packed as `keys.token_bytes` does."""


def stretch(node: Node, begin: int, end: int) -> Stretch:
    """Blocks `begin` to `end`, counted from the root, of the path that ends in `node`.

    Where a part of it is shared, namespace and keys are those of whoever the path ends with.
    O(nodes on the path + blocks). `end` must be greater than `begin`, and no more than `node.end`.
    """
    blocks: list[BlockId] = []
    tokens = b""
    root: Root | None = None
    at: Node | None = node
    while at is not None and (root is None or at.end > begin):
        low, high = max(begin, at.start), min(end, at.end)
        if isinstance(at, Root):
            root = root or at
        elif low < high:
            width = len(at.label) // len(at.blocks)
            blocks[:0] = at.blocks[low - at.start : high - at.start]
            tokens = bytes(at.label[(low - at.start) * width : (high - at.start) * width]) + tokens
        at = at.parent
    assert root is not None
    parent, key = (_holder(node, depth).key_before(depth) for depth in (begin, end))
    return Stretch(root.namespace, begin, parent, key, blocks, tokens)


def keys_up(node: Node, depth: int, step: int) -> Iterator[BlockKey]:
    """The keys of the blocks that end `depth`, `depth - step`, ... blocks from the root.

    Of the path that ends in `node`; the root's own is not among them. O(nodes + keys) in all.
    """
    at = node
    for end in range(depth, 0, -step):
        at = _holder(at, end)
        yield at.key_before(end)


def _holder(node: Node, depth: int) -> Node:
    """What has the key that ends `depth` blocks from the root: a gate has all up to itself."""
    at = node
    while depth <= at.start and not isinstance(at, Root):
        assert at.parent is not None
        at = at.parent
    return at
