from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cache.build import acquired, cached_tokens, namespace, stored

from headstart.cache import Match, PrefixCache, reusable_tokens
from headstart.cache.node import Node
from headstart.cache.policies import Lru


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 9))
def test_reuse_is_the_largest_whole_unit_that_leaves_a_token_to_compute(
    matched: int, prompt: int, unit: int
) -> None:
    fitting = [tokens for tokens in range(0, matched + 1, unit) if tokens < prompt]
    assert reusable_tokens(matched, prompt, unit) == max(fitting, default=0)


@pytest.mark.parametrize(("blocks", "size"), [(0, 4), (-1, 4), (4, 0), (4, -1)])
def test_a_cache_without_blocks_or_tokens_is_refused(index: str, blocks: int, size: int) -> None:
    with pytest.raises(ValueError, match="at least one block"):
        PrefixCache(blocks, size, index=index)


@pytest.mark.parametrize("unit", [0, 2, 6, 15, -1, -4, -16])
def test_a_reuse_unit_that_is_neither_a_token_nor_whole_blocks_is_refused(
    index: str, unit: int
) -> None:
    """A negative one would report more tokens reused than the prompt has."""
    with pytest.raises(ValueError, match="reuse_unit"):
        PrefixCache(8, 4, reuse_unit=unit, index=index)


def test_a_namespace_of_another_block_size_is_refused(index: str) -> None:
    """Keys of 2 tokens counted as blocks of 4 would promise twice what was found."""
    with pytest.raises(ValueError, match="block"):
        PrefixCache(8, 4, index=index).chain(namespace(block_size=2))


def test_a_token_id_that_has_no_encoding_leaves_everything_as_it_was(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(8))
    chain = cache.chain(namespace())
    with pytest.raises(OverflowError):
        cache.acquire(chain, [0, 1, 2, 3, -1, 5, 6, 7, 8])

    cache.audit()
    assert (cache.leased, cache.cached, chain.data) == (0, 2, b"")


def test_a_lease_has_blocks_for_every_token_and_none_besides(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    for tokens, blocks in [(1, 1), (4, 1), (5, 2), (8, 2)]:
        lease = acquired(cache, range(tokens))
        assert len(lease.blocks) == blocks
        cache.release(lease)


def test_free_cached_and_leased_blocks_add_up_to_all(index: str) -> None:
    cache = PrefixCache(10, 4, index=index)
    stored(cache, range(8))
    lease = acquired(cache, [*range(4), 9, 9, 9])
    assert (cache.total, cache.leased, cache.cached, cache.available) == (10, 2, 1, 8)
    cache.release(lease)
    assert (cache.total, cache.leased, cache.cached, cache.available) == (10, 0, 2, 10)


def test_a_prompt_goes_on_right_behind_its_hit_where_the_pool_has_room(index: str) -> None:
    """Attention reads neighbours as one view, so a hit must not cost a run."""
    cache = PrefixCache(20, 4, index=index)
    first, second = stored(cache, range(8)).blocks
    cache.release(acquired(cache, range(50, 58)))  # was there for a while, and moved the cursor on
    lease = acquired(cache, range(20))
    assert lease.cached_tokens == 8
    assert lease.blocks == [first, second, second + 1, second + 2, second + 3]


def test_a_refused_prompt_holds_nothing(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    stored(cache, range(8))
    assert cache.acquire(cache.chain(namespace()), range(17)) is None
    cache.audit()
    assert (cache.leased, cache.cached, cache.evicted) == (0, 2, 0)


@pytest.mark.parametrize(("spare", "admitted"), [(0, True), (1, True), (2, False)])
def test_spare_blocks_are_left_to_others(index: str, spare: int, admitted: bool) -> None:
    cache = PrefixCache(4, 4, index=index)
    lease = cache.acquire(cache.chain(namespace()), range(12), spare=spare)
    assert (lease is not None) == admitted


def test_a_lease_that_can_not_grow_keeps_what_it_has(index: str) -> None:
    cache = PrefixCache(3, 4, index=index)
    lease, other = acquired(cache, range(4)), acquired(cache, range(50, 54))
    assert not cache.grow(lease, 12)
    assert (len(lease.blocks), cache.available) == (1, 1)
    cache.release(other)
    assert cache.grow(lease, 12)
    assert cache.available == 0


def test_growing_to_less_than_it_holds_changes_nothing(index: str) -> None:
    cache = PrefixCache(3, 4, index=index)
    lease = acquired(cache, range(8))
    assert cache.grow(lease, 3)
    assert len(lease.blocks) == 2


def test_a_released_lease_can_not_take_blocks_any_more(index: str) -> None:
    """Nobody would ever give them back."""
    cache = PrefixCache(4, 4, index=index)
    lease = acquired(cache, range(4))
    cache.release(lease)
    with suppress(ValueError):
        assert not cache.grow(lease, 12)
    cache.audit()
    assert cache.available == 4


def test_a_released_lease_publishes_nothing(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    lease = acquired(cache, range(5))
    cache.release(lease)
    cache.publish(lease, range(5))
    cache.audit()
    assert cached_tokens(cache, range(5)) == 0


@pytest.mark.parametrize(("computed", "findable"), [(0, 0), (3, 0), (4, 4), (7, 4), (12, 12)])
def test_only_blocks_that_are_computed_to_their_end_are_found(
    index: str, computed: int, findable: int
) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = acquired(cache, range(13))
    cache.publish(lease, range(13), computed)
    assert cached_tokens(cache, range(13)) == findable


def test_generated_tokens_are_found_like_those_of_a_prompt(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = acquired(cache, [1, 2, 3])
    assert cache.grow(lease, 9)
    cache.publish(lease, [1, 2, 3, 70, 71, 72, 73, 74, 75])
    cache.release(lease)
    assert cached_tokens(cache, [1, 2, 3, 70, 71, 72, 73, 74, 80]) == 8


def test_two_who_computed_one_prefix_end_up_on_the_same_blocks(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    first, second = acquired(cache, range(9)), acquired(cache, range(9))
    assert set(first.blocks).isdisjoint(second.blocks)
    tail = second.blocks[2]
    cache.publish(first, range(9))
    cache.publish(second, range(9))

    assert second.blocks == [*first.blocks[:2], tail]
    assert (cache.leased, cache.available) == (4, 4)
    cache.audit()


def test_looking_up_does_not_count_as_use(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, [1] * 4)
    stored(cache, [2] * 4)
    cached_tokens(cache, [1] * 5)
    acquired(cache, [3] * 4)
    assert (cached_tokens(cache, [1] * 5), cached_tokens(cache, [2] * 5)) == (0, 4)


def test_evictions_are_counted_and_resets_are_not(index: str) -> None:
    cache = PrefixCache(3, 4, index=index)
    stored(cache, range(12))
    stored(cache, range(50, 58))
    assert cache.evicted == 2
    cache.reset()
    assert (cache.evicted, cache.available, cache.cached) == (2, 3, 0)


def test_hits_are_cut_to_the_reuse_unit(index: str) -> None:
    cache = PrefixCache(16, 4, reuse_unit=12, index=index)
    stored(cache, range(20))
    lease = acquired(cache, range(24))
    assert (lease.cached_tokens, lease.shared) == (12, 3)


def test_a_touched_prefix_is_given_up_last_though_only_part_of_its_block_matches(
    index: str,
) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, [1] * 4)
    stored(cache, [2] * 4)
    cache.touch(cache.chain(namespace()), [1, 1, 5, 5])
    cache.release(acquired(cache, [3] * 4))
    assert (cached_tokens(cache, [1] * 5), cached_tokens(cache, [2] * 5)) == (4, 0)
    cache.audit()


def test_what_lies_behind_the_limit_is_neither_matched_nor_reused(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(12))
    chain = cache.chain(namespace())
    for limit in range(16):
        most = min(limit, 12)
        assert cache.match(chain, range(14), limit=limit).cached_tokens == most
        lease = cache.acquire(chain, range(14), limit=limit)
        assert lease is not None
        assert lease.cached_tokens == most
        cache.release(lease)
        cache.audit()


def test_a_touch_within_a_limit_leaves_what_it_does_not_reach_as_it_was(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, [1] * 4)
    stored(cache, [2] * 4)
    cache.touch(cache.chain(namespace()), [1] * 5, limit=0)
    cache.release(acquired(cache, [3] * 4))
    assert (cached_tokens(cache, [1] * 5), cached_tokens(cache, [2] * 5)) == (0, 4)


class Mru(Lru):
    """Most recently used first."""

    def rank(self, leaf: Node) -> int:
        return -leaf.stamp


def test_the_policy_that_was_passed_in_is_the_one_that_is_asked(index: str) -> None:
    cache = PrefixCache(2, 4, index=index, policy=Mru())
    stored(cache, [1] * 4)
    stored(cache, [2] * 4)
    cache.release(acquired(cache, [3] * 4))
    assert (cached_tokens(cache, [1] * 5), cached_tokens(cache, [2] * 5)) == (4, 0)


def test_an_index_nobody_knows_is_refused() -> None:
    with pytest.raises(KeyError):
        PrefixCache(8, 4, index="trie")


def test_a_disabled_cache_leases_but_finds_keeps_and_announces_nothing(index: str) -> None:
    cache = PrefixCache(8, 4, enabled=False, index=index)
    lease = acquired(cache, range(12))
    cache.publish(lease, range(12))
    assert cache.match(cache.chain(namespace()), range(12)) == Match(0, coming=False)
    cache.release(lease)
    assert (cache.cached, cache.available) == (0, 8)
    cache.audit()


def test_a_lease_from_before_a_reset_publishes_nothing_though_its_chain_has_moved_on(
    index: str,
) -> None:
    cache = PrefixCache(8, 4, index=index)
    chain = cache.chain(namespace())
    lease = cache.acquire(chain, range(12))
    assert lease is not None
    cache.publish(lease, range(12), 4)
    cache.reset()
    cache.match(chain, range(12))  # brings the chain into the new generation
    cache.publish(lease, range(12))

    cache.audit()
    assert cached_tokens(cache, range(12)) == 0
    cache.release(lease)
    assert (cache.cached, cache.available) == (0, 8)


def test_a_chain_from_before_a_reset_is_at_home_in_the_new_generation(index: str) -> None:
    """A preempted request keeps its chain, and is admitted again after the reset."""
    cache = PrefixCache(8, 4, index=index)
    chain = cache.chain(namespace())
    assert cache.match(chain, range(9)) == Match(0, coming=False)
    cache.reset()
    lease = cache.acquire(chain, range(9))
    assert lease is not None
    cache.publish(lease, range(9))
    assert cached_tokens(cache, range(9)) == 8
    cache.reset()
    cache.release(lease)
    stored(cache, range(9))
    assert cache.match(chain, range(9)).cached_tokens == 8
    cache.audit()


def test_a_touched_prefix_is_given_up_last(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    stored(cache, range(8))
    stored(cache, range(50, 58))
    cache.touch(cache.chain(namespace()), range(9))
    cache.release(acquired(cache, range(90, 97)))
    assert (cached_tokens(cache, range(9)), cached_tokens(cache, range(50, 59))) == (8, 0)
    cache.audit()


def test_touching_what_is_not_there_or_in_use_changes_nothing(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    cache.touch(cache.chain(namespace()), range(9))
    stored(cache, range(8))
    lease = acquired(cache, range(9))
    cache.touch(cache.chain(namespace()), range(9))
    cache.audit()
    assert (cache.leased, cache.cached) == (3, 0)
    cache.release(lease)
