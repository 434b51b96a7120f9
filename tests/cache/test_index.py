"""What both indexes promise the tree, asked of them directly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cache.build import acquired, common_prefix, namespace, stored
from tests.search import examples

from headstart.cache import PrefixCache
from headstart.cache.keys import TOKEN_BYTES
from headstart.cache.node import Found, blocks_to


def found(cache: PrefixCache, tokens: list[int], size: int) -> Found:
    """What the first `size` of `tokens` find, though the chain goes on."""
    chain = cache.chain(namespace(block_size=cache.block_size))
    chain.extend(tokens)
    return cache._tree.index.find(cache._tree.root(chain), chain, size * TOKEN_BYTES)


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize("length", [11, 12, 13])
def test_nothing_behind_the_size_asked_for_is_looked_at(
    index: str, length: int, tail: bool
) -> None:
    cache = PrefixCache(12, 4, index=index)
    stored(cache, range(length), tail=tail)
    stored(cache, [*range(6), 90, 91], tail=tail)
    known = length if tail else length // 4 * 4
    for size in range(length + 1):
        match = found(cache, list(range(20)), size)
        assert divmod(min(size, known), 4) == (match.depth, match.tokens)
        assert (match.beside is None) == (match.tokens == 0)
        assert match.node.end >= match.depth


prompts = st.lists(st.lists(st.integers(0, 1), max_size=14), min_size=1, max_size=6)


@given(prompts, prompts, st.integers(1, 4), st.booleans())
@settings(max_examples=examples(40))
def test_what_is_found_begins_as_what_was_asked_for_and_no_longer(
    index: str, kept: list[list[int]], asked: list[list[int]], size: int, tail: bool
) -> None:
    cache = PrefixCache(100, size, index=index)
    for prompt in kept:
        stored(cache, prompt, tail=tail)
    known = [prompt if tail else prompt[: len(prompt) // size * size] for prompt in kept]
    for tokens in kept + asked:
        for end in range(len(tokens) + 1):
            match = found(cache, tokens, end)
            longest = max(common_prefix(tokens[:end], other) for other in known)
            assert divmod(longest, size) == (match.depth, match.tokens)
            if match.beside is not None:
                assert match.beside.start <= match.depth < match.beside.end


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_cut_ends_where_it_should_and_keeps_every_block_in_its_place(
    index: str, depth: int
) -> None:
    cache = PrefixCache(12, 4, index=index)
    lease = acquired(cache, range(16))
    cache.publish(lease, range(16))
    node = cache._tree.cut(lease.node, depth)
    assert node.end == depth
    assert blocks_to(node) == lease.blocks[:depth]
    assert blocks_to(lease.node) == lease.blocks
    assert cache._tree.cut(lease.node, depth) is node
    cache.audit()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_cut_of_what_nobody_holds_leaves_it_as_old_as_it_was(index: str, depth: int) -> None:
    cache = PrefixCache(12, 4, index=index)
    stored(cache, [*range(16), 90])
    stored(cache, [*[70] * 8])
    match = found(cache, list(range(16)), 16)
    node = cache._tree.cut(match.node, depth)
    cache.audit()
    assert (node.end, node.stamp, node.holders) == (depth, match.node.stamp, 0)
    cache.release(acquired(cache, [99] * 40))
    assert cache.evicted == 4
    assert found(cache, [70] * 8, 8).depth == 2


def test_a_cut_at_the_root_is_the_root(index: str) -> None:
    cache = PrefixCache(12, 4, index=index)
    lease = acquired(cache, range(16))
    cache.publish(lease, range(16))
    assert cache._tree.cut(lease.node, 0).parent is None
    assert lease.shared == 4
