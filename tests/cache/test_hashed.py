"""A node for every block, found by the hash of its prefix."""

from collections.abc import Iterable
from math import ceil, log2

import pytest
from tests.cache.build import acquired, namespace, stored

from headstart.cache import BlockKey, PrefixCache
from headstart.cache.hashed import HashIndex
from headstart.cache.node import Node, Root


class CountedNodes(dict[BlockKey, Node]):
    """The index, counting how often it is asked."""

    asked = 0

    def __init__(self, items: Iterable[tuple[BlockKey, Node]]) -> None:
        super().__init__(items)

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


@pytest.mark.parametrize("kept", [0, 1, 1000, 4095, 4096])
def test_a_long_prompt_is_looked_up_by_halving(kept: int) -> None:
    cache, tokens = PrefixCache(4096, 1, index="hash"), range(4097)
    lease = acquired(cache, tokens[:4096])
    cache.publish(lease, tokens[:4096], kept)
    index = cache._tree.index
    assert isinstance(index, HashIndex)
    nodes = index._nodes = CountedNodes(index._nodes.items())

    chain = cache.chain(namespace(block_size=1))
    assert cache.match(chain, tokens).cached_tokens == kept
    assert nodes.asked <= ceil(log2(4097)) + 1


def test_every_block_is_a_node_under_the_key_of_its_prefix() -> None:
    cache = PrefixCache(20, 4, index="hash")
    lease = acquired(cache, range(18))
    cache.publish(lease, range(18), tail=True)
    node, keys = lease.node, lease.chain.keys(4)
    for depth in range(4, 0, -1):
        assert (node.end, node.blocks) == (depth, [lease.blocks[depth - 1]])
        assert node.keys == [keys[depth - 1]]
        assert node.parent is not None
        node = node.parent
    assert node.parent is None


def test_a_prompt_is_found_by_its_keys_and_not_by_walking_the_tree() -> None:
    """A router has keys only; what has none of them under its root is found by the dict alone."""
    index = HashIndex(4)
    cache = PrefixCache(20, 4, index="hash")
    chain = cache.chain(namespace())
    chain.extend(range(12))
    label = bytes(chain.data)
    last = index.extend(
        Root(namespace(), chain.root),
        label,
        stored(cache, range(12)).blocks,
        chain.keys(3),
        alone=True,
    )
    found = index.find(Root(namespace(), chain.root), chain, len(label))
    assert (found.node, found.depth, found.beside, found.tokens) == (last, 3, None, 0)


def test_a_key_that_was_given_up_is_known_no_more() -> None:
    cache = PrefixCache(3, 4, index="hash")
    stored(cache, range(12))
    cache.release(acquired(cache, [90] * 8))
    index = cache._tree.index
    assert isinstance(index, HashIndex)
    assert len(index._nodes) == 1
    cache.reset()
    assert len(index._nodes) == 0
