"""Edges as long as can be, split where somebody needs their beginning only."""

import pytest
from tests.cache.build import acquired, cached_tokens, namespace, steps, stored

from headstart.cache import Lease, PrefixCache


def radix(blocks: int, size: int = 4) -> PrefixCache:
    return PrefixCache(blocks, size, index="radix")


def edges(lease: Lease) -> int:
    """Nodes on the way to the end of what the lease shares; the root is none."""
    count, node = 0, lease.node
    while node.parent is not None:
        count, node = count + 1, node.parent
    return count


def test_a_sequence_that_only_grows_is_one_edge() -> None:
    cache = radix(40)
    lease = acquired(cache, range(6))
    for tokens in range(6, 100):
        assert cache.grow(lease, tokens)
        cache.publish(lease, range(tokens), tail=True)
        assert edges(lease) == 1
    cache.audit()


def test_a_conversation_stays_one_edge_over_all_its_turns() -> None:
    cache = radix(60)
    for turn in range(1, 20):
        lease = acquired(cache, range(10 * turn))
        assert lease.cached_tokens == 10 * (turn - 1)
        cache.publish(lease, range(10 * turn), tail=True)
        assert edges(lease) == 1
        assert len(lease.node.blocks) == 10 * turn // 4
        cache.release(lease)
        cache.audit()


def test_two_who_go_on_differently_share_one_edge_and_have_one_each() -> None:
    cache = radix(40)
    stored(cache, range(40))
    leases = [acquired(cache, [*range(20), letter, *range(19)]) for letter in (90, 91)]
    for lease, letter in zip(leases, (90, 91), strict=True):
        cache.publish(lease, [*range(20), letter, *range(19)])
        assert edges(lease) == 2
    assert leases[0].node.parent is leases[1].node.parent
    assert leases[0].node.parent is not None
    assert len(leases[0].node.parent.blocks) == 5
    assert len(leases[0].node.parent.children) == 3
    cache.audit()


def test_an_edge_that_others_hold_too_does_not_grow_under_them() -> None:
    cache = radix(40)
    stored(cache, range(8))
    first, second = acquired(cache, range(17)), acquired(cache, [*range(8), *[90] * 9])
    assert first.node is second.node
    cache.publish(first, range(17))
    assert (first.shared, second.shared) == (4, 2)
    cache.publish(second, [*range(8), *[90] * 9])
    assert edges(first) == edges(second) == 2
    cache.audit()


def test_a_late_publisher_moves_on_to_a_whole_edge_without_cutting_it() -> None:
    cache = radix(40)
    first, late = acquired(cache, range(17)), acquired(cache, range(17))
    cache.publish(first, range(17))
    cache.publish(late, range(17))
    assert late.node is first.node
    assert edges(late) == 1
    cache.audit()


def test_namespaces_and_first_blocks_have_edges_of_their_own() -> None:
    cache = radix(40)
    leases = []
    for tenant, first in (("acme", 0), ("acme", 50), ("globex", 0)):
        lease = acquired(cache, range(first, first + 9), namespace(tenant=tenant))
        cache.publish(lease, range(first, first + 9))
        leases.append(lease)
    assert [edges(lease) for lease in leases] == [1, 1, 1]
    assert len({lease.node for lease in leases}) == 3
    assert leases[0].node.parent is leases[1].node.parent is not leases[2].node.parent


def cost_of_a_turn(history: int) -> int:
    """300 tokens more behind so many."""
    cache = radix((history + 400) // 16, 16)
    tokens = list(range(history))
    chain = cache.chain(namespace(block_size=16))
    first = cache.acquire(chain, tokens)
    assert first is not None
    cache.publish(first, tokens, tail=True)
    cache.release(first)
    tokens += range(300)

    def turn() -> None:
        lease = cache.acquire(chain, tokens)
        assert lease is not None
        assert lease.cached_tokens == history
        cache.publish(lease, tokens, tail=True)
        cache.release(lease)

    return steps(turn)


def test_a_turn_costs_by_what_is_new_and_not_by_the_history() -> None:
    """Law 11, in lines of code that run."""
    assert cost_of_a_turn(100_008) == cost_of_a_turn(1_000)


@pytest.mark.parametrize("kept", [0, 1, 1000, 4095, 4096])
def test_where_a_prompt_leaves_a_long_edge_is_found_by_halving(kept: int) -> None:
    cache, tokens = radix(4096, 1), list(range(4097))
    stored(cache, tokens[:4096])
    chain, prompt = cache.chain(namespace(block_size=1)), [*tokens[:kept], *[9_999] * (4097 - kept)]
    assert cache.match(chain, prompt).cached_tokens == kept
    assert steps(lambda: cache.match(chain, prompt)) < 150


def test_a_prompt_in_the_middle_of_an_edge_is_found_without_splitting_it() -> None:
    cache = radix(40)
    lease = acquired(cache, range(40))
    cache.publish(lease, range(40))
    assert cached_tokens(cache, [*range(18), 90]) == 18
    assert edges(lease) == 1
