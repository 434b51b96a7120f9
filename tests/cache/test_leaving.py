"""Being told what is about to be given up, asking what fits, and what was used last."""

import random

import pytest
from tests.cache.build import acquired, namespace, stored

from headstart.cache import PrefixCache, stretch
from headstart.cache.node import Node


def watched(cache: PrefixCache) -> list[tuple[bytes, list[int]]]:
    """Tokens and blocks of what leaves, as they are found while being told."""
    left: list[tuple[bytes, list[int]]] = []

    def told(node: Node, begin: int, end: int) -> None:
        part = stretch(node, 0, end)
        assert not any(cache._pool.is_free(block) for block in part.blocks)
        left.append((part.tokens[begin * cache._width :], part.blocks[begin:]))

    cache.on_leaving(told)
    return left


def joined(left: list[tuple[bytes, list[int]]]) -> tuple[bytes, list[int]]:
    """All of a prefix that left, in however many pieces, its end first."""
    pieces = list(reversed(left))
    return b"".join(tokens for tokens, _ in pieces), [at for _, blocks in pieces for at in blocks]


def packed(*tokens: int) -> bytes:
    return b"".join(token.to_bytes(4, "little") for token in tokens)


def test_who_listens_is_told_what_is_evicted_while_all_of_its_path_is_there(index: str) -> None:
    cache = PrefixCache(4, 2, index=index)
    left = watched(cache)
    stored(cache, [1, 2, 3, 4, 5, 6])
    blocks = acquired(cache, [7, 8, 9, 9, 9]).blocks
    tokens, gone = joined(left)
    assert tokens == packed(3, 4, 5, 6)
    assert set(gone) < set(blocks)


def test_who_listens_is_told_what_expires(index: str) -> None:
    now = [0.0]
    cache = PrefixCache(8, 2, index=index, ttl=5.0, clock=lambda: now[0])
    left = watched(cache)
    stored(cache, [1, 2, 3, 4])
    now[0] = 6.0
    cache.match(cache.chain(namespace(block_size=2)), [9, 9])
    assert joined(left)[0] == packed(1, 2, 3, 4)


def test_a_reset_tails_and_what_is_replaced_are_not_told(index: str) -> None:
    cache = PrefixCache(16, 2, index=index)
    left = watched(cache)
    stored(cache, [1, 2, 3], tail=True)
    stored(cache, [1, 2, 3, 4], tail=True)  # makes the tail useless
    stored(cache, [5, 6, 7], tail=True)
    held = acquired(cache, [8, 8, 8, 8])
    cache.publish(held, [8, 8, 8, 8])
    cache.reset()
    cache.release(held)
    assert left == []
    stored(cache, [5], tail=True)
    cache.trim(0)
    assert left == []


@pytest.mark.parametrize("seed", range(20))
def test_fits_says_what_acquire_does_and_changes_nothing(index: str, seed: int) -> None:
    draw = random.Random(seed)
    cache = PrefixCache(12, 2, index=index)
    space = namespace(block_size=2)
    leases = []
    said = set()
    for _ in range(80):
        tokens = [draw.randrange(2) for _ in range(draw.randrange(1, 14))]
        spare = draw.randrange(3)
        chain = cache.chain(space)
        before = (cache.cached, cache.available, cache.evicted)
        fits = cache.fits(chain, tokens, spare=spare)
        assert (cache.cached, cache.available, cache.evicted) == before
        lease = cache.acquire(chain, tokens, spare=spare)
        assert fits == (lease is not None)
        said.add(fits)
        if lease is not None:
            cache.publish(lease, tokens, tail=True)
            leases.append(lease)
        if leases and draw.random() < 0.6:
            cache.release(leases.pop(draw.randrange(len(leases))))
        cache.audit()
    assert said == {True, False}


def test_what_was_used_last_comes_first_and_no_child_before_its_parent(index: str) -> None:
    now = [0.0]
    cache = PrefixCache(64, 2, index=index, clock=lambda: now[0])
    for at, tokens in enumerate(([1, 1, 2, 2], [1, 1, 3, 3], [4, 4], [1, 1, 2, 2, 5, 5], [6, 6])):
        now[0] = float(at)
        stored(cache, tokens, tail=True)
    labels = b"".join(bytes(node.label) for node in cache.by_last_use())
    assert labels == packed(6, 6, 1, 1, 2, 2, 5, 5, 4, 4, 3, 3)


def test_a_reset_may_choose_a_later_generation_and_never_an_earlier_one() -> None:
    cache = PrefixCache(8, 2, generation=5)
    cache.reset()
    assert cache.generation == 6
    cache.reset(100)
    assert cache.generation == 100
    cache.reset(7)
    assert cache.generation == 101
