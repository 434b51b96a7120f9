"""Who holds what, and what goes first, whichever index shapes the tree."""

import pytest
from tests.cache.build import Memory, acquired, cached_tokens, namespace, stored

from headstart.cache import PrefixCache


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_split_under_a_lease_keeps_that_leases_blocks(index: str, depth: int) -> None:
    cache = PrefixCache(20, 4, index=index)
    memory = Memory(cache)
    prompt = list(range(17))
    first = acquired(cache, prompt)
    memory.compute(first, prompt)
    cache.publish(first, prompt)
    blocks = list(first.blocks)

    branch = [*range(depth * 4), *[90] * 5]
    second = acquired(cache, branch)
    memory.compute(second, branch)
    cache.publish(second, branch)
    cache.audit()
    assert (first.blocks, first.shared) == (blocks, 4)
    assert second.blocks[:depth] == blocks[:depth]

    assert cache.grow(first, 21)
    cache.publish(first, range(21))
    cache.audit()
    cache.release(second)
    assert first.blocks[:5] == blocks
    assert cached_tokens(cache, range(30)) == 20
    memory.compute(first, list(range(21)))
    assert memory.read(first, 21) == list(range(21))


def test_a_split_under_a_lease_keeps_what_it_announced(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(16))
    acquired(cache, range(24))
    acquired(cache, [*range(8), *[90] * 5])
    chain = cache.chain(namespace())
    assert cache.match(chain, range(24)).coming
    cache.audit()


@pytest.mark.parametrize("held_by_whom", ["upper", "lower"])
def test_either_half_of_a_split_may_be_let_go_first(index: str, held_by_whom: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    first = acquired(cache, range(17))
    cache.publish(first, range(17))
    second = acquired(cache, [*range(8), *[90] * 5])
    order = [first, second] if held_by_whom == "upper" else [second, first]
    cache.release(order[0])
    cache.audit()
    assert cache.cached == (2 if held_by_whom == "upper" else 0)
    cache.release(order[1])
    cache.audit()
    assert (cache.cached, cache.available) == (4, 20)


def test_both_parts_of_a_split_keep_their_own_age(index: str) -> None:
    """The beginning was used again, the rest was not."""
    cache = PrefixCache(7, 4, index=index)
    stored(cache, range(16))
    stored(cache, [70] * 8)
    cache.release(acquired(cache, [*range(8), 90]))
    left = []
    for blocks in range(1, 8):
        cache.release(acquired(cache, [99] * 4 * blocks))
        left.append((cached_tokens(cache, range(17)), cached_tokens(cache, [70] * 9)))
        cache.audit()
    assert left == [(16, 8), (12, 8), (8, 8), (8, 4), (8, 0), (4, 0), (0, 0)]


def test_a_prefix_that_was_refused_room_keeps_all_its_blocks(index: str) -> None:
    """The attempt may have split it, and counts as a use of its beginning."""
    cache = PrefixCache(5, 4, index=index)
    stored(cache, range(16))
    assert cache.acquire(cache.chain(namespace()), [*range(8), *[90] * 20]) is None
    cache.audit()
    assert cached_tokens(cache, range(17)) == 16
    assert (cache.cached, cache.leased) == (4, 0)


def test_what_many_hold_is_cached_when_the_last_lets_go(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(12))
    leases = [acquired(cache, [*range(4 * n), 90]) for n in (3, 2, 3, 1)]
    held = []
    for lease in leases:
        cache.release(lease)
        cache.audit()
        held.append(3 - cache.cached)
    assert held == [3, 3, 1, 0]


def test_blocks_taken_over_from_another_are_held_and_the_own_ones_are_free(index: str) -> None:
    """The later publisher meets half of what it computed, in the middle of a longer prefix."""
    cache = PrefixCache(12, 4, index=index)
    late = acquired(cache, [*range(8), *[90] * 5])
    stored(cache, range(16))
    cache.publish(late, [*range(8), *[90] * 5])
    cache.audit()
    assert (cache.leased, cache.cached) == (4, 2)
    assert late.blocks[:2] == acquired(cache, range(17)).blocks[:2]


def test_a_reset_drops_what_nobody_holds_around_what_is_held(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    stored(cache, range(16), tail=True)
    stored(cache, [*range(8), *[80] * 6], tail=True)
    leases = [acquired(cache, [*range(4), 90]), acquired(cache, [*range(8), 91])]
    blocks = [list(lease.blocks) for lease in leases]
    cache.reset()
    cache.audit()
    assert (cache.cached, cache.leased) == (0, 4)
    assert [lease.blocks for lease in leases] == blocks
    for lease in leases:
        cache.release(lease)
        cache.audit()
    assert (cache.cached, cache.available) == (0, 20)


def test_after_a_reset_only_what_came_since_is_given_up(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    stored(cache, range(8), tail=True)
    stored(cache, [70] * 5, tail=True)
    cache.reset()
    for n in range(4):
        stored(cache, [80 + n] * 4)
    cache.release(acquired(cache, [99] * 8))
    cache.audit()
    assert [cached_tokens(cache, [80 + n] * 5) for n in range(4)] == [0, 0, 4, 4]


def test_an_empty_prompt_leaves_no_namespace_behind(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    lease = acquired(cache, [])
    assert cached_tokens(cache, [1]) == 0
    cache.audit()
    cache.release(lease)
    cache.audit()


def test_a_namespace_whose_last_block_is_given_up_is_forgotten(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    for tenant in ("acme", "globex", "initech"):
        stored(cache, range(8), namespace(tenant=tenant))
        cache.audit()
    assert len(cache._tree.roots) == 1
