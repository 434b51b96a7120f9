"""What is computed of a block that is not full yet can be found too, as long as that is of use."""

import pytest
from tests.cache.build import Memory, acquired, cached_tokens, stored

from headstart.cache import Lease, PrefixCache


def running(cache: PrefixCache, tokens: int) -> Lease:
    """A lease on the first tokens of the natural numbers, computed and published with its tail."""
    lease = acquired(cache, range(tokens))
    cache.publish(lease, range(tokens), tail=True)
    return lease


def grown(cache: PrefixCache, lease: Lease, tokens: int, *, tail: bool = True) -> None:
    assert cache.grow(lease, tokens)
    cache.publish(lease, range(tokens), tail=tail)
    cache.audit()


def test_a_tail_is_found_while_its_owner_goes_on(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 6)
    assert cached_tokens(cache, range(20)) == 6
    for tokens in (7, 8, 9, 10):
        grown(cache, lease, tokens)
        assert cached_tokens(cache, range(20)) == tokens


def test_without_being_asked_for_a_tail_is_not_found(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = acquired(cache, range(6))
    cache.publish(lease, range(6))
    assert cached_tokens(cache, range(20)) == 4


def test_with_whole_blocks_only_there_are_no_tails(index: str) -> None:
    cache = PrefixCache(8, 4, reuse_unit=4, index=index)
    cache.release(running(cache, 6))
    assert cached_tokens(cache, range(20)) == 4
    assert cache.cached == 1


def test_a_tail_ends_where_the_computation_does(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = acquired(cache, range(12))
    for computed in range(12):
        cache.publish(lease, range(12), computed, tail=True)
        assert cached_tokens(cache, range(20)) == computed
        cache.audit()


def test_a_tail_that_is_published_shorter_stays_as_long_as_it_was(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 7)
    cache.publish(lease, range(7), 5, tail=True)
    cache.publish(lease, range(7), 2, tail=True)
    assert cached_tokens(cache, range(20)) == 7
    cache.audit()


def test_a_tail_stays_where_its_owner_goes_on_without_naming_it(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 6)
    grown(cache, lease, 7, tail=False)
    assert cached_tokens(cache, range(20)) == 6


def test_a_longer_tail_takes_the_place_of_the_shorter_in_the_same_block(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 5)
    blocks = list(lease.blocks)
    for tokens in (6, 7):
        grown(cache, lease, tokens)
        assert lease.blocks == blocks
    cache.release(lease)
    assert (cache.cached, cache.available) == (2, 8)
    cache.audit()


def test_a_tail_that_fills_up_becomes_a_block_like_any_other(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 6)
    blocks = list(lease.blocks)
    grown(cache, lease, 8)
    assert (lease.blocks, lease.shared, lease.tail) == (blocks, 2, None)
    cache.release(lease)
    assert acquired(cache, range(9)).blocks[:2] == blocks


def test_a_tail_stays_findable_when_its_owner_is_gone(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    cache.release(running(cache, 6))
    assert cached_tokens(cache, range(20)) == 6
    assert (cache.cached, cache.leased) == (2, 0)
    cache.audit()


def test_a_tail_alone_is_found_too(index: str) -> None:
    cache = PrefixCache(8, 16, index=index)
    cache.release(running(cache, 5))
    assert cached_tokens(cache, range(9)) == 5
    assert cache.cached == 1


def test_an_idle_tail_that_a_full_block_covers_is_dropped(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    cache.release(running(cache, 6))
    other = acquired(cache, range(9))
    cache.publish(other, range(9))
    cache.audit()
    cache.release(other)
    assert cache.cached == 2
    assert cached_tokens(cache, range(9)) == 8


def test_an_idle_tail_that_a_longer_tail_covers_is_dropped(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    cache.release(running(cache, 5))
    cache.release(running(cache, 7))
    assert cache.cached == 2
    assert cached_tokens(cache, range(9)) == 7
    cache.audit()


def test_all_tails_that_are_covered_at_once_are_dropped(index: str) -> None:
    cache = PrefixCache(12, 8, index=index)
    leases = [acquired(cache, range(8)) for _ in range(3)]
    for count, lease in enumerate(leases, start=2):
        cache.publish(lease, range(8), count, tail=True)
    for lease in leases:
        cache.release(lease)
    cache.audit()
    assert cache.cached == 1
    stored(cache, range(8))
    assert cache.cached == 1
    cache.audit()


def test_a_tail_in_use_that_is_covered_goes_when_its_owner_does(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 6)
    other = acquired(cache, range(9))
    cache.publish(other, range(9))
    cache.audit()
    cache.release(other)
    assert (cache.cached, cache.leased) == (1, 2)
    cache.release(lease)
    cache.audit()
    assert cache.cached == 2


def test_a_tail_that_says_something_else_stays(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    cache.release(running(cache, 6))
    stored(cache, [0, 1, 2, 3, 4, 90, 91, 92])
    stored(cache, [0, 1, 2, 3, 80], tail=True)
    assert cached_tokens(cache, range(20)) == 6
    assert cached_tokens(cache, [0, 1, 2, 3, 80, 81]) == 5
    assert cache.cached == 4
    cache.audit()


def test_a_tail_stays_when_its_owner_goes_whatever_else_stands_beside_it(index: str) -> None:
    cache = PrefixCache(12, 4, index=index)
    for last in ([4, 6, 7, 8], [5, 5, 5, 5], [3, 3, 3, 3]):
        stored(cache, [0, 1, 2, 3, *last])
    cache.release(running(cache, 6))
    cache.audit()
    assert cached_tokens(cache, range(20)) == 6
    assert cache.cached == 5


def test_a_tail_that_is_known_already_is_not_kept_twice(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    first, second = acquired(cache, range(6)), acquired(cache, range(6))
    cache.publish(first, range(6), tail=True)
    cache.publish(second, range(6), tail=True)
    cache.release(first)
    cache.release(second)
    assert (cache.cached, cache.available) == (2, 8)
    cache.audit()


def test_a_tail_that_a_full_block_says_already_is_not_kept(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    early = acquired(cache, range(6))
    stored(cache, range(8))
    cache.publish(early, range(6), tail=True)
    cache.release(early)
    assert cache.cached == 2
    cache.audit()


def test_nothing_hangs_on_a_tail(index: str) -> None:
    """It would have to move when the tail's owner fills the block with other tokens."""
    cache = PrefixCache(12, 4, index=index)
    owner = running(cache, 6)
    other = acquired(cache, [*range(6), 90, 91, 92, 93, 94])
    assert other.cached_tokens == 6
    cache.publish(other, [*range(6), 90, 91, 92, 93, 94], tail=True)
    cache.audit()
    grown(cache, owner, 9)
    cache.release(owner)
    cache.release(other)
    cache.audit()
    assert cached_tokens(cache, [*range(6), 90, 91, 92, 93, 94, 5]) == 11
    assert cached_tokens(cache, range(20)) == 9


def test_who_reuses_a_tail_writes_into_a_block_of_its_own(index: str) -> None:
    cache = PrefixCache(12, 4, index=index)
    memory = Memory(cache)
    first, second = list(range(7)), [*range(6), 90, 91]
    owner = acquired(cache, first)
    memory.compute(owner, first[:6])
    cache.publish(owner, first, 6, tail=True)
    other = acquired(cache, second)
    assert other.cached_tokens == 6
    memory.compute(other, second)
    memory.compute(owner, first)
    assert memory.read(other, 8) == second
    assert memory.read(owner, 7) == first


def test_a_tail_goes_before_the_blocks_it_stands_behind(index: str) -> None:
    cache = PrefixCache(3, 4, index=index)
    cache.release(running(cache, 10))
    left = []
    for blocks in (1, 2, 3):
        cache.release(acquired(cache, [99] * 4 * blocks))
        cache.audit()
        left.append(cached_tokens(cache, range(20)))
    assert left == [8, 4, 0]


def test_a_tail_in_use_is_not_given_up(index: str) -> None:
    cache = PrefixCache(3, 4, index=index)
    lease = running(cache, 6)
    assert cache.available == 1
    assert not cache.grow(lease, 17)
    cache.release(acquired(cache, [99] * 4))
    assert cached_tokens(cache, range(20)) == 6


@pytest.mark.parametrize("idle", [False, True])
def test_a_reset_forgets_tails_and_loses_no_block(index: str, idle: bool) -> None:
    cache = PrefixCache(8, 4, index=index)
    lease = running(cache, 6)
    if idle:
        cache.release(lease)
    cache.reset()
    cache.audit()
    assert cached_tokens(cache, range(20)) == 0
    cache.publish(lease, range(6), tail=True)
    cache.release(lease)
    cache.audit()
    assert (cache.cached, cache.available) == (0, 8)


@pytest.mark.parametrize("size", [2, 3, 5, 16, 784])
def test_tails_of_any_length_are_found_to_the_token(index: str, size: int) -> None:
    cache = PrefixCache(300, size, index=index)
    for length in sorted({1, 2, size // 2, size - 1, size, size + 1, 2 * size - 1} - {0}):
        space = range(length * 10_000, length * 10_000 + length)
        stored(cache, space, tail=True)
        assert cached_tokens(cache, [*space, 5]) == length
    cache.audit()
