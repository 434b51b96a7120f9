from collections.abc import Iterable
from contextlib import suppress
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cache.build import acquired, cached_tokens, namespace, stored

from headstart.cache import BlockId, BlockKey, Match, PrefixCache, reusable_tokens


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 9))
def test_reuse_is_the_largest_whole_unit_that_leaves_a_token_to_compute(
    matched: int, prompt: int, unit: int
) -> None:
    fitting = [tokens for tokens in range(0, matched + 1, unit) if tokens < prompt]
    assert reusable_tokens(matched, prompt, unit) == max(fitting, default=0)


@pytest.mark.parametrize(("blocks", "size"), [(0, 4), (-1, 4), (4, 0), (4, -1)])
def test_a_cache_without_blocks_or_tokens_is_refused(blocks: int, size: int) -> None:
    with pytest.raises(ValueError, match="at least one block"):
        PrefixCache(blocks, size)


@pytest.mark.parametrize("unit", [1, 6, 15, -4, -16])
def test_a_reuse_unit_that_is_not_whole_blocks_is_refused(unit: int) -> None:
    """A negative one would report more tokens reused than the prompt has."""
    with pytest.raises(ValueError, match="reuse_unit"):
        PrefixCache(8, 4, reuse_unit=unit)


def test_a_namespace_of_another_block_size_is_refused() -> None:
    """Keys of 2 tokens counted as blocks of 4 would promise twice what was found."""
    with pytest.raises(ValueError, match="block"):
        PrefixCache(8, 4).chain(namespace(block_size=2))


def test_a_token_id_that_has_no_encoding_leaves_everything_as_it_was() -> None:
    cache = PrefixCache(8, 4)
    stored(cache, range(8))
    chain = cache.chain(namespace())
    with pytest.raises(OverflowError):
        cache.acquire(chain, [0, 1, 2, 3, -1, 5, 6, 7, 8])

    cache.audit()
    assert (cache.leased, cache.cached, chain.keys) == (0, 2, [])


def test_a_lease_has_blocks_for_every_token_and_none_besides() -> None:
    cache = PrefixCache(8, 4)
    for tokens, blocks in [(1, 1), (4, 1), (5, 2), (8, 2)]:
        lease = acquired(cache, range(tokens))
        assert len(lease.blocks) == blocks
        cache.release(lease)


def test_free_cached_and_leased_blocks_add_up_to_all() -> None:
    cache = PrefixCache(10, 4)
    stored(cache, range(8))
    lease = acquired(cache, [*range(4), 9, 9, 9])
    assert (cache.total, cache.leased, cache.cached, cache.available) == (10, 2, 1, 8)
    cache.release(lease)
    assert (cache.total, cache.leased, cache.cached, cache.available) == (10, 0, 2, 10)


def test_a_prompt_goes_on_right_behind_its_hit_where_the_pool_has_room() -> None:
    """Attention reads neighbours as one view, so a hit must not cost a run."""
    cache = PrefixCache(20, 4)
    first, second = stored(cache, range(8)).blocks
    cache.release(acquired(cache, range(50, 58)))  # was there for a while, and moved the cursor on
    lease = acquired(cache, range(20))
    assert lease.cached_tokens == 8
    assert lease.blocks == [first, second, second + 1, second + 2, second + 3]


def test_a_refused_prompt_holds_nothing() -> None:
    cache = PrefixCache(4, 4)
    stored(cache, range(8))
    assert cache.acquire(cache.chain(namespace()), range(17)) is None
    cache.audit()
    assert (cache.leased, cache.cached, cache.evicted) == (0, 2, 0)


@pytest.mark.parametrize(("spare", "admitted"), [(0, True), (1, True), (2, False)])
def test_spare_blocks_are_left_to_others(spare: int, admitted: bool) -> None:
    cache = PrefixCache(4, 4)
    lease = cache.acquire(cache.chain(namespace()), range(12), spare=spare)
    assert (lease is not None) == admitted


def test_a_lease_that_can_not_grow_keeps_what_it_has() -> None:
    cache = PrefixCache(3, 4)
    lease, other = acquired(cache, range(4)), acquired(cache, range(50, 54))
    assert not cache.grow(lease, 12)
    assert (len(lease.blocks), cache.available) == (1, 1)
    cache.release(other)
    assert cache.grow(lease, 12)
    assert cache.available == 0


def test_growing_to_less_than_it_holds_changes_nothing() -> None:
    cache = PrefixCache(3, 4)
    lease = acquired(cache, range(8))
    assert cache.grow(lease, 3)
    assert len(lease.blocks) == 2


def test_a_released_lease_can_not_take_blocks_any_more() -> None:
    """Nobody would ever give them back."""
    cache = PrefixCache(4, 4)
    lease = acquired(cache, range(4))
    cache.release(lease)
    with suppress(ValueError):
        assert not cache.grow(lease, 12)
    cache.audit()
    assert cache.available == 4


def test_a_released_lease_publishes_nothing() -> None:
    cache = PrefixCache(4, 4)
    lease = acquired(cache, range(5))
    cache.release(lease)
    cache.publish(lease, range(5))
    cache.audit()
    assert cached_tokens(cache, range(5)) == 0


@pytest.mark.parametrize(("computed", "findable"), [(0, 0), (3, 0), (4, 4), (7, 4), (12, 12)])
def test_only_blocks_that_are_computed_to_their_end_are_found(computed: int, findable: int) -> None:
    cache = PrefixCache(8, 4)
    lease = acquired(cache, range(13))
    cache.publish(lease, range(13), computed)
    assert cached_tokens(cache, range(13)) == findable


def test_generated_tokens_are_found_like_those_of_a_prompt() -> None:
    cache = PrefixCache(8, 4)
    lease = acquired(cache, [1, 2, 3])
    assert cache.grow(lease, 9)
    cache.publish(lease, [1, 2, 3, 70, 71, 72, 73, 74, 75])
    cache.release(lease)
    assert cached_tokens(cache, [1, 2, 3, 70, 71, 72, 73, 74, 80]) == 8


def test_two_who_computed_one_prefix_end_up_on_the_same_blocks() -> None:
    cache = PrefixCache(8, 4)
    first, second = acquired(cache, range(9)), acquired(cache, range(9))
    assert set(first.blocks).isdisjoint(second.blocks)
    tail = second.blocks[2]
    cache.publish(first, range(9))
    cache.publish(second, range(9))

    assert second.blocks == [*first.blocks[:2], tail]
    assert (cache.leased, cache.available) == (4, 4)
    cache.audit()


def test_looking_up_does_not_count_as_use() -> None:
    cache = PrefixCache(2, 4)
    stored(cache, [1] * 4)
    stored(cache, [2] * 4)
    cached_tokens(cache, [1] * 5)
    acquired(cache, [3] * 4)
    assert (cached_tokens(cache, [1] * 5), cached_tokens(cache, [2] * 5)) == (0, 4)


def test_evictions_are_counted_and_resets_are_not() -> None:
    cache = PrefixCache(3, 4)
    stored(cache, range(12))
    stored(cache, range(50, 58))
    assert cache.evicted == 2
    cache.reset()
    assert (cache.evicted, cache.available, cache.cached) == (2, 3, 0)


def test_hits_are_cut_to_the_reuse_unit() -> None:
    cache = PrefixCache(16, 4, reuse_unit=12)
    stored(cache, range(20))
    lease = acquired(cache, range(24))
    assert (lease.cached_tokens, lease.shared) == (12, 3)


def test_nobody_waits_for_tokens_that_are_computed_in_any_case() -> None:
    """The last block of this prompt can't be reused by an equal one: a token must be left."""
    cache = PrefixCache(16, 4)
    lease = acquired(cache, range(8))
    assert cache.match(cache.chain(namespace()), range(8)) == Match(0, coming=True)
    cache.publish(lease, range(8), 4)
    assert cache.match(cache.chain(namespace()), range(8)) == Match(4, coming=False)
    assert cache.match(cache.chain(namespace()), range(9)) == Match(4, coming=True)


def test_a_disabled_cache_leases_but_finds_keeps_and_announces_nothing() -> None:
    cache = PrefixCache(8, 4, enabled=False)
    lease = acquired(cache, range(12))
    cache.publish(lease, range(12))
    assert cache.match(cache.chain(namespace()), range(12)) == Match(0, coming=False)
    cache.release(lease)
    assert (cache.cached, cache.available) == (0, 8)
    cache.audit()


def test_a_lease_from_before_a_reset_publishes_nothing_though_its_chain_has_moved_on() -> None:
    cache = PrefixCache(8, 4)
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


class CountedIndex(dict[BlockKey, BlockId]):
    """The index, counting how often it is asked."""

    asked = 0

    def __init__(self, items: Iterable[tuple[BlockKey, BlockId]]) -> None:
        super().__init__(items)

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


@pytest.mark.parametrize("kept", [0, 1, 1000, 4095, 4096])
def test_a_long_prompt_is_looked_up_by_halving(kept: int) -> None:
    cache, tokens = PrefixCache(4096, 1), range(4097)
    lease = acquired(cache, tokens[:4096])
    cache.publish(lease, tokens[:4096], kept)
    index = cache._index = CountedIndex(cache._index.items())

    assert cached_tokens(cache, tokens) == kept
    assert index.asked <= ceil(log2(4097)) + 1


def test_a_touched_prefix_is_given_up_last() -> None:
    cache = PrefixCache(4, 4)
    stored(cache, range(8))
    stored(cache, range(50, 58))
    cache.touch(cache.chain(namespace()), range(9))
    cache.release(acquired(cache, range(90, 97)))
    assert (cached_tokens(cache, range(9)), cached_tokens(cache, range(50, 59))) == (8, 0)
    cache.audit()


def test_touching_what_is_not_there_or_in_use_changes_nothing() -> None:
    cache = PrefixCache(4, 4)
    cache.touch(cache.chain(namespace()), range(9))
    stored(cache, range(8))
    lease = acquired(cache, range(9))
    cache.touch(cache.chain(namespace()), range(9))
    cache.audit()
    assert (cache.leased, cache.cached) == (3, 0)
    cache.release(lease)
