"""What must be true of the cache whatever is given up first."""

import random

import pytest
from tests.cache.build import acquired, common_prefix, stored
from tests.cache.policies.scene import RandomWork, Shelf, entries

from headstart.cache import POLICIES, PrefixCache

every_policy = pytest.mark.parametrize("name", sorted(POLICIES))


@every_policy
@pytest.mark.parametrize("ttl", [None, 4.0])
def test_random_work_keeps_the_books_what_is_held_and_what_is_pinned(
    name: str, index: str, ttl: float | None
) -> None:
    for seed in range(2):
        work = RandomWork(POLICIES[name](), index, seed, ttl=ttl)
        work.run(300)
        assert work.cache.evicted > 20, "the pool was never under pressure"


@every_policy
def test_a_prefix_shrinks_from_its_end(name: str, index: str) -> None:
    """A parent outlives its children however often they were reused."""
    cache = PrefixCache(40, 4, policy=POLICIES[name](), index=index)
    stored(cache, range(16))
    cache.release(acquired(cache, range(17)))
    for last in (70, 80):
        branch = [*range(8), *[last] * 8]
        stored(cache, branch)
        cache.release(acquired(cache, [*branch, 1]))
    while cache.cached:
        cache.trim(cache.cached - 1)
        cache.audit()  # That all blocks before a findable one are findable is part of the books.
    assert cache.evicted == 8


@every_policy
def test_whatever_is_wanted_is_found_though_all_was_reused(name: str, index: str) -> None:
    cache = PrefixCache(10, 4, policy=POLICIES[name](), index=index)
    for number in range(5):
        stored(cache, [number] * 8)
    for _ in range(4):
        for number in range(5):
            cache.release(acquired(cache, [number] * 8))
    cache.release(acquired(cache, range(100, 140)))
    cache.audit()
    assert cache.cached == 0


@every_policy
def test_what_is_held_stays_while_all_else_goes(name: str, index: str) -> None:
    cache = PrefixCache(10, 4, policy=POLICIES[name](), index=index)
    stored(cache, range(16))
    stored(cache, range(50, 58))
    lease = acquired(cache, range(9))
    cache.release(acquired(cache, range(100, 128)))
    cache.audit()
    assert (lease.shared, cache.cached) == (2, 0)


@every_policy
def test_a_reset_is_a_new_beginning(name: str, index: str) -> None:
    cache = PrefixCache(6, 4, policy=POLICIES[name](), index=index)
    for _ in range(3):
        for number in range(6):
            stored(cache, [number] * 8)
        cache.release(acquired(cache, [5] * 8))
        cache.reset()
        cache.audit()
        assert (cache.cached, cache.available) == (0, 6)


@every_policy
def test_what_a_policy_remembers_does_not_grow_with_the_requests(name: str) -> None:
    """A hot block is offered and withdrawn with every request that hits it."""
    policy = POLICIES[name]()
    shelf = Shelf(policy)
    shelf.store(*range(5))
    for _ in range(2_000):
        shelf.use(0)
    assert entries(policy) < 200
    assert len(shelf.evict(5)) == 5


@every_policy
def test_a_pool_that_holds_everything_hits_as_one_without_end(name: str, index: str) -> None:
    """Where nothing must go, it makes no difference what would."""
    rng, footprint = random.Random(3), list[list[int]]()
    for _ in range(150):
        earlier = rng.choice(footprint) if footprint else []
        kept = earlier[: rng.randint(0, len(earlier))]
        footprint.append([*kept, *(rng.randint(0, 2) for _ in range(rng.randint(1, 12)))])
    cache = PrefixCache(
        sum(len(tokens) // 4 + 1 for tokens in footprint), 4, policy=POLICIES[name](), index=index
    )
    for number, tokens in enumerate(footprint):
        lease = stored(cache, tokens, tail=True)
        known = max((common_prefix(one, tokens) for one in footprint[:number]), default=0)
        assert lease.cached_tokens == min(known, len(tokens) - 1)
    assert cache.evicted == 0
