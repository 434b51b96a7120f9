"""A lease announces the block it fills next, so that others wait instead of computing it too."""

import pytest
from tests.cache.build import acquired, namespace

from headstart.cache import Lease, Match, PrefixCache


def seen(cache: PrefixCache, tokens: "list[int] | range") -> Match:
    return cache.match(cache.chain(namespace(block_size=cache.block_size)), tokens)


def test_the_next_block_of_a_live_lease_is_coming(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    assert seen(cache, range(12)) == Match(0, coming=False)
    acquired(cache, range(12))
    assert seen(cache, range(12)) == Match(0, coming=True)
    assert seen(cache, [*range(4), 90]) == Match(0, coming=True)


def test_a_block_that_differs_in_its_last_token_is_not_coming(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    acquired(cache, range(12))
    assert seen(cache, [0, 1, 2, 90, 4, 5, 6, 7]) == Match(0, coming=False)


def test_another_tenant_waits_for_nobody(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    acquired(cache, range(12))
    other = cache.chain(namespace(tenant="globex"))
    assert cache.match(other, range(12)) == Match(0, coming=False)


def test_announcements_move_on_with_what_is_published(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    lease = acquired(cache, range(13))
    for computed in (4, 8, 12):
        cache.publish(lease, range(13), computed)
        branch = [*range(computed), *[90] * 5]
        assert seen(cache, range(20)).coming == (computed < 12)
        assert seen(cache, branch) == Match(computed, coming=False)
        assert seen(cache, range(13)) == Match(computed, coming=computed < 12)
        cache.audit()


def test_a_lease_announces_behind_what_it_reused(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    first = acquired(cache, range(8))
    cache.publish(first, range(8))
    cache.release(first)
    acquired(cache, range(16))
    assert seen(cache, range(16)) == Match(8, coming=True)


def test_who_finds_part_of_the_coming_block_already_still_waits_for_the_rest(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    lease = acquired(cache, range(8))
    cache.publish(lease, range(8), 6, tail=True)
    assert seen(cache, range(9)) == Match(6, coming=True)
    cache.publish(lease, range(8), 8)
    assert seen(cache, range(9)) == Match(8, coming=False)


def test_nobody_waits_for_tokens_that_are_computed_in_any_case(index: str) -> None:
    """The last token of a prompt can't be reused, so neither can a block it is alone in."""
    cache = PrefixCache(16, 4, index=index)
    lease = acquired(cache, range(5))
    assert seen(cache, range(5)) == Match(0, coming=True)
    cache.publish(lease, range(5), 4)
    assert seen(cache, range(5)) == Match(4, coming=False)


def test_with_whole_blocks_nobody_waits_for_a_block_that_must_be_computed_in_any_case(
    index: str,
) -> None:
    cache = PrefixCache(16, 4, reuse_unit=4, index=index)
    lease = acquired(cache, range(8))
    assert seen(cache, range(8)) == Match(0, coming=True)
    cache.publish(lease, range(8), 4)
    assert seen(cache, range(8)) == Match(4, coming=False)
    assert seen(cache, range(9)) == Match(4, coming=True)


def test_an_equal_prompt_waits_for_all_but_the_last_token_of_a_block(index: str) -> None:
    cache = PrefixCache(16, 4, index=index)
    lease = acquired(cache, range(8))
    cache.publish(lease, range(8), 4)
    assert seen(cache, range(8)) == Match(4, coming=True)


def ends(cache: PrefixCache, lease: Lease, how: str) -> None:
    if how == "completed":
        cache.publish(lease, range(12))
    if how == "reset":
        cache.reset()
    if how in ("completed", "aborted", "released twice"):
        cache.release(lease)
    if how == "released twice":
        cache.release(lease)


@pytest.mark.parametrize("how", ["completed", "aborted", "released twice", "reset"])
def test_an_announcement_is_gone_however_its_lease_ends(index: str, how: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    ends(cache, acquired(cache, range(12)), how)
    assert not seen(cache, range(20)).coming
    assert not seen(cache, range(12)).coming
    cache.audit()


@pytest.mark.parametrize("how", ["completed", "aborted", "released twice"])
def test_two_who_announce_the_same_block_are_both_counted(index: str, how: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    first, second = acquired(cache, range(12)), acquired(cache, range(12))
    ends(cache, first, how)
    cache.audit()
    if how != "completed":
        assert seen(cache, range(12)) == Match(0, coming=True)
    cache.release(second)
    assert not seen(cache, range(12)).coming
    cache.audit()


def test_a_lease_that_falls_behind_announces_what_it_has_left_when_the_other_is_gone(
    index: str,
) -> None:
    """Its next block is findable by now: nobody need wait for it."""
    cache = PrefixCache(20, 4, index=index)
    first, second = acquired(cache, range(12)), acquired(cache, range(12))
    cache.publish(first, range(12), 8)
    cache.release(first)
    assert seen(cache, range(13)) == Match(8, coming=False)
    cache.publish(second, range(12), 4)
    assert seen(cache, range(13)) == Match(8, coming=False)
    cache.publish(second, range(12), 8)
    assert seen(cache, range(13)) == Match(8, coming=True)
    cache.audit()


def test_a_prompt_that_was_refused_announces_nothing(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    assert cache.acquire(cache.chain(namespace()), range(12)) is None
    assert not seen(cache, range(12)).coming
    cache.audit()


def test_nothing_behind_the_limit_is_announced(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    chain = cache.chain(namespace())
    lease = cache.acquire(chain, range(12), limit=4)
    assert lease is not None
    assert seen(cache, range(12)) == Match(0, coming=True)
    cache.publish(lease, range(12), 4)
    assert seen(cache, range(12)) == Match(4, coming=False)
    cache.audit()


def test_nobody_waits_for_part_of_a_unit(index: str) -> None:
    cache = PrefixCache(20, 4, reuse_unit=8, index=index)
    acquired(cache, range(12))
    chain = cache.chain(namespace())
    assert cache.match(chain, range(12), limit=8) == Match(0, coming=True)
    assert cache.match(chain, range(12), limit=6) == Match(0, coming=False)


def test_who_left_the_prefix_does_not_wait_for_what_follows_it(index: str) -> None:
    """Though the same tokens come at the same place."""
    cache = PrefixCache(20, 4, index=index)
    lease = acquired(cache, range(16))
    cache.publish(lease, range(16), 12)
    assert seen(cache, range(20)) == Match(12, coming=True)
    assert seen(cache, [*range(4), *[90] * 4, *range(8, 20)]) == Match(4, coming=False)


def test_generated_tokens_are_announced_to_nobody(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    lease = acquired(cache, range(4))
    assert cache.grow(lease, 12)
    cache.publish(lease, range(12), 4)
    assert seen(cache, range(13)) == Match(4, coming=False)


def test_after_a_reset_new_leases_announce_again(index: str) -> None:
    cache = PrefixCache(20, 4, index=index)
    old = acquired(cache, range(12))
    cache.reset()
    new = acquired(cache, range(12))
    cache.publish(old, range(12), 4)
    cache.release(old)
    assert seen(cache, range(12)) == Match(0, coming=True)
    cache.release(new)
    assert not seen(cache, range(12)).coming
    cache.audit()
