"""A time to live: what nobody used for so long is dropped."""

import pytest
from tests.cache.build import acquired, namespace
from tests.cache.kept import Kept

from headstart.cache import Reason

TTL = 10.0


def expiring(blocks: int, index: str, **options: int) -> Kept:
    return Kept(blocks, index, ttl=TTL, ghosts=100, **options)


def test_what_nobody_used_for_its_time_is_dropped_and_not_before(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(10), tail=True)
    kept.now = TTL - 0.1
    assert kept.cached(range(10)) == 10
    kept.now = TTL
    assert kept.cached(range(10)) == 0
    kept.cache.audit()
    assert (kept.cache.available, kept.cache.cached, kept.cache.evicted) == (8, 0, 0)


def test_without_a_time_to_live_nothing_is_dropped(index: str) -> None:
    kept = Kept(8, index)
    kept.store(range(8))
    kept.now = 1e9
    assert kept.cached(range(8)) == 8


def test_use_starts_the_time_anew(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(8))
    for kept.now in (8.0, 16.0, 24.0):
        kept.store(range(9))
    kept.now = 33.9
    assert kept.cached(range(8)) == 8
    kept.now = 34.0
    assert kept.cached(range(8)) == 0


def test_a_touch_starts_the_time_anew(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(8))
    kept.now = 8.0
    kept.cache.touch(kept.cache.chain(namespace()), range(9))
    kept.now = 17.9
    assert kept.cached(range(8)) == 8
    kept.now = 18.0
    assert kept.cached(range(8)) == 0


def test_no_more_is_kept_of_many_uses_than_of_one(index: str) -> None:
    kept = expiring(64, index)
    for seed in range(4):
        kept.store(range(100 * seed, 100 * seed + 8))
    chain = kept.cache.chain(namespace())
    for kept.now in [each / 1000 for each in range(8000)]:
        kept.cache.touch(chain, range(9))
    assert len(kept.cache._tree._idle) < 200
    kept.now = TTL
    assert [kept.cached(range(100 * seed, 100 * seed + 8)) for seed in range(4)] == [8, 0, 0, 0]
    kept.now = 8.0 + TTL
    assert kept.cached(range(8)) == 0
    kept.cache.audit()


def test_looking_does_not_start_the_time_anew(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(8))
    kept.now = 8.0
    assert kept.cached(range(8)) == 8
    kept.now = TTL
    assert kept.cached(range(8)) == 0


def test_the_end_that_nobody_used_goes_before_the_beginning_that_was(index: str) -> None:
    kept = expiring(12, index)
    kept.store(range(16))
    kept.now = 6.0
    kept.store(range(9))
    kept.now = TTL
    assert kept.cached(range(16)) == 8
    kept.cache.audit()
    kept.now = 16.0
    assert kept.cached(range(16)) == 0


def test_branches_go_one_by_one_and_what_they_share_with_the_last(index: str) -> None:
    kept = expiring(12, index)
    kept.store(range(12))
    kept.now = 4.0
    branch = [*range(8), 70, 71, 72, 73]
    kept.store(branch)
    kept.now = TTL
    assert (kept.cached(range(12)), kept.cached(branch)) == (8, 12)
    kept.now = 14.0
    assert (kept.cached(range(12)), kept.cached(branch)) == (0, 0)
    kept.cache.audit()


def test_what_is_held_never_expires(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(12))
    lease = acquired(kept.cache, range(9))
    kept.now = 100.0
    assert kept.cached(range(12)) == 8, "only what is held of it"
    kept.cache.audit()
    kept.cache.release(lease)
    kept.now = 109.0
    assert kept.cached(range(8)) == 8
    kept.now = 110.0
    assert kept.cached(range(8)) == 0


def test_what_is_pinned_does_not_expire_while_it_is(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(16))
    kept.pin(range(8), ttl=50.0)
    kept.now = 49.0
    assert kept.cached(range(16)) == 8
    kept.cache.audit()


def test_what_was_pinned_for_longer_than_its_time_goes_with_its_pin(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(8))
    kept.pin(range(8), ttl=50.0)
    kept.now = 20.0
    assert kept.cached(range(8)) == 8
    kept.now = 50.0 + TTL
    assert kept.cached(range(8)) == 0
    kept.cache.audit()


@pytest.mark.parametrize("evicted", [0, 1, 2])
def test_what_was_pinned_for_a_moment_expires_like_the_rest(index: str, evicted: int) -> None:
    """Whatever of the rest went before."""
    kept = expiring(4, index)
    kept.store(range(16))
    kept.unpin(kept.pin(range(8)))
    kept.flood(evicted)
    kept.now = TTL
    assert kept.cached(range(16)) == 0
    assert kept.cache.available == 4


def test_what_expired_is_remembered_as_expired(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(12))
    kept.now = TTL
    miss = kept.cache.explain(kept.cache.chain(namespace()), range(20))
    assert (miss.reason, miss.at, miss.lost_tokens, miss.lost_for) == (Reason.EXPIRED, 0, 12, 0.0)


def test_what_goes_on_behind_an_expired_part_is_told_from_there(index: str) -> None:
    kept = expiring(8, index)
    kept.store(range(16))
    kept.now = 6.0
    kept.store(range(9))
    kept.now = 13.0
    miss = kept.cache.explain(kept.cache.chain(namespace()), range(20))
    assert (miss.reason, miss.at, miss.lost_tokens) == (Reason.EXPIRED, 8, 8)


def test_an_expired_prefix_can_come_back(index: str) -> None:
    kept = expiring(4, index)
    kept.store(range(8))
    kept.now = TTL
    kept.store(range(8))
    kept.now = 19.0
    assert kept.cached(range(8)) == 8


def test_a_reset_leaves_nothing_to_expire(index: str) -> None:
    kept = expiring(4, index)
    kept.store(range(8))
    kept.cache.reset()
    kept.now = TTL
    assert kept.cached(range(8)) == 0
    kept.cache.audit()
    assert kept.cache.available == 4
