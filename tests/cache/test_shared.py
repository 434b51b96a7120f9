"""Prefixes that tenants share because the operator says so: those tokens, and nothing else."""

from collections.abc import Sequence

import pytest
from tests.cache.build import namespace
from tests.cache.kept import Kept

from headstart.cache import (
    POLICIES,
    Lease,
    Namespace,
    OverBudget,
    PrefixCache,
    Reason,
    Stored,
    Visit,
    keys_up,
    stretch,
)
from headstart.cache.keys import token_bytes
from headstart.cache.node import Node

SYSTEM = list(range(8))
"""Two blocks that are declared."""
ACME, GLOBEX = namespace(tenant="acme"), namespace(tenant="globex")


def acquired(
    cache: PrefixCache, tokens: Sequence[int], space: Namespace, shared: Sequence[int] = SYSTEM
) -> Lease:
    """A lease on a prompt that begins with what is shared."""
    everybodys = cache.chain(namespace(tenant="everybody"))
    everybodys.extend(shared)
    lease = cache.acquire(cache.chain(space, everybodys), tokens)
    assert lease is not None
    return lease


def stored(cache: PrefixCache, tokens: Sequence[int], space: Namespace) -> Lease:
    lease = acquired(cache, tokens, space)
    cache.publish(lease, tokens, tail=True)
    cache.audit()
    cache.release(lease, Visit())
    cache.audit()
    return lease


@pytest.fixture
def cache(index: str) -> PrefixCache:
    return PrefixCache(40, 4, index=index, ghosts=100)


def test_two_tenants_share_exactly_the_declared_tokens(cache: PrefixCache) -> None:
    first = stored(cache, [*SYSTEM, 50, 51, 52, 53, 54], ACME)
    second = acquired(cache, [*SYSTEM, 50, 51, 52, 53, 54], GLOBEX)
    assert second.cached_tokens == len(SYSTEM)
    assert second.blocks[:2] == first.blocks[:2]
    assert not set(second.blocks[2:]) & set(first.blocks)


def test_a_tenant_finds_its_own_behind_what_is_shared(cache: PrefixCache) -> None:
    stored(cache, [*SYSTEM, 50, 51, 52, 53, 54], ACME)
    again = acquired(cache, [*SYSTEM, 50, 51, 52, 53, 54, 55], ACME)
    assert again.cached_tokens == 13


def test_a_prompt_that_is_the_declared_prefix_computes_one_token(cache: PrefixCache) -> None:
    stored(cache, SYSTEM, ACME)
    lease = acquired(cache, SYSTEM, GLOBEX)
    assert lease.cached_tokens == 7
    assert len(cache.take_copies()) == 1
    cache.publish(lease, SYSTEM)
    cache.audit()


def test_what_is_shared_is_computed_once_by_tenants_that_come_together(cache: PrefixCache) -> None:
    acquired(cache, [*SYSTEM, 50], ACME)
    shared = cache.chain(namespace(tenant="everybody"))
    shared.extend(SYSTEM)
    assert cache.match(cache.chain(GLOBEX, shared), [*SYSTEM, 60]).coming


def test_what_lies_behind_is_waited_for_by_nobody_else(cache: PrefixCache) -> None:
    prompt = [*SYSTEM, *range(50, 60)]
    lease = acquired(cache, prompt, ACME)
    cache.publish(lease, prompt, 8)
    shared = cache.chain(namespace(tenant="everybody"))
    shared.extend(SYSTEM)
    assert cache.match(cache.chain(ACME, shared), prompt).coming
    assert not cache.match(cache.chain(GLOBEX, shared), prompt).coming


@pytest.mark.parametrize("behind", [[], [50, 51, 52, 53]])
def test_what_is_shared_outlives_what_stands_on_it(cache: PrefixCache, behind: list[int]) -> None:
    """And goes when nothing does, like anything else."""
    stored(cache, [*SYSTEM, *behind], ACME)
    cache.trim(2)
    cache.audit()
    assert cache.cached == 2
    assert acquired(cache, [*SYSTEM, 60], GLOBEX).cached_tokens == 8
    cache.reset()
    cache.audit()


def test_a_declared_prefix_within_another_parts_at_its_own_end(cache: PrefixCache) -> None:
    longer = [*SYSTEM, *range(20, 28)]
    lease = acquired(cache, [*longer, 1], ACME, shared=longer)
    cache.publish(lease, [*longer, 1])
    short = acquired(cache, [*SYSTEM, *range(20, 24), 99], GLOBEX)
    assert short.cached_tokens == 8
    cache.publish(short, [*SYSTEM, *range(20, 24), 99])
    cache.audit()
    assert not set(short.blocks[2:]) & set(lease.blocks)


def test_the_same_prompt_may_also_lie_whole_in_its_own_namespace(cache: PrefixCache) -> None:
    """A prompt that was shorter than the declared prefix may generate the rest of it."""
    prompt = [*SYSTEM, *range(50, 58)]
    whole = cache.acquire(cache.chain(ACME), prompt)
    assert whole is not None
    cache.publish(whole, prompt)
    lease = acquired(cache, prompt, ACME)
    assert lease.cached_tokens == 0
    cache.publish(lease, prompt)
    cache.audit()


def test_why_something_was_missed_tells_nothing_of_another_tenant(cache: PrefixCache) -> None:
    prompt = [*SYSTEM, *range(50, 60)]
    stored(cache, prompt, ACME)
    lease = acquired(cache, prompt, GLOBEX)
    miss = lease.miss
    assert (miss.reason, miss.at, miss.cached_ahead) == (Reason.NEVER_SEEN, 8, ())
    cache.release(lease)
    cache.trim(0)
    miss = acquired(cache, prompt, GLOBEX).miss
    assert (miss.reason, miss.at, miss.lost_tokens) == (Reason.EVICTED, 0, 8)
    miss = acquired(cache, prompt, ACME).miss
    assert (miss.reason, miss.lost_tokens) == (Reason.EVICTED, 16)


def test_the_tree_shows_a_tenant_what_is_its_own(cache: PrefixCache) -> None:
    stored(cache, [*SYSTEM, *range(50, 58)], ACME)
    (own,) = cache.tree("acme", 100)[:1]
    assert (own.begin, own.parent) == (8, None)
    assert sum(node.tokens for node in cache.tree("acme", 100)) == 8
    assert cache.tree("globex", 100) == []
    assert sum(node.tokens for node in cache.tree(None, 100)) == 16


def test_events_chain_what_lies_behind_to_what_is_shared(cache: PrefixCache) -> None:
    cache.take_events()
    stored(cache, [*SYSTEM, *range(50, 54)], ACME)
    told = [event for event in cache.take_events() if isinstance(event, Stored)]
    for events in (told, cache.findable()):
        *shared, own = events
        assert {event.namespace.tenant for event in shared} == {"everybody"}
        assert shared[0].parent is None
        assert (own.namespace, own.parent) == (ACME, shared[-1].keys[-1])
        assert [event.gate for event in events] == [*[False] * len(shared), True]


def test_keys_for_tiers_are_the_tenants_own_and_the_same_in_the_pool_and_not(
    cache: PrefixCache,
) -> None:
    prompt = [*SYSTEM, *range(50, 58)]
    keys = {}
    for space in (ACME, GLOBEX):
        lease = acquired(cache, prompt, space)
        root, before = lease.chain.root, cache.keys_ahead(lease.chain, prompt)
        cache.publish(lease, prompt, 4)
        early = stretch(cache.path(lease), 0, lease.shared)
        cache.publish(lease, prompt)
        whole = stretch(cache.path(lease), 0, 4)
        assert (early.namespace, early.parent) == (whole.namespace, whole.parent) == (space, root)
        keys[space] = list(keys_up(cache.path(lease), 4, 1))[::-1]
        assert keys[space][early.first + len(early.blocks) - 1] == early.key
        assert keys[space][before[0] :] == before[1]
        cache.release(lease)
    assert not set(keys[ACME]) & set(keys[GLOBEX])


@pytest.mark.parametrize("behind", [0, 1, 3, 8])
def test_whoever_listens_is_told_all_that_a_tenant_has_in_that_tenants_keys(
    cache: PrefixCache, behind: int
) -> None:
    """What is shared as often as somebody ceases to use it, and once more as nobody's own."""
    left: dict[str, list[bytes]] = {}

    def told(node: Node, begin: int, end: int) -> None:
        for at in range(begin, end):
            part = stretch(node, at, at + 1)
            assert part.tokens == token_bytes(prompt[4 * at : 4 * at + 4])
            assert not any(cache._pool.is_free(block) for block in part.blocks)
            left.setdefault(part.namespace.tenant, []).append(part.key)

    cache.on_leaving(told)
    prompt = [*SYSTEM, *range(50, 50 + behind)]
    chains = [stored(cache, prompt, space).chain for space in (ACME, GLOBEX)]
    assert set(left) == (set() if behind else {"acme", "globex"})
    cache.trim(0)
    cache.audit()
    for chain in chains:
        keys = left.pop(chain.namespace.tenant)
        assert set(keys) == set(chain.keys(len(prompt) // 4)[: len(prompt) // 4])
        assert len(keys) == len(set(keys))
    assert [len(keys) for keys in left.values()] == [2]


def test_a_request_that_finds_no_room_makes_nothing_leave(cache: PrefixCache) -> None:
    stored(cache, [*SYSTEM, 50, 51, 52, 53], ACME)
    left: list[Node] = []
    cache.on_leaving(lambda node, begin, end: left.append(node))
    shared = cache.chain(namespace(tenant="everybody"))
    shared.extend(SYSTEM)
    assert cache.acquire(cache.chain(GLOBEX, shared), [*SYSTEM, *range(200)]) is None
    assert left == []
    cache.audit()


def test_keys_ahead_of_a_limit_are_the_tenants_own(cache: PrefixCache) -> None:
    """The limit before, on and behind the end of what is shared."""
    prompt = [*SYSTEM, *range(50, 58)]
    lease = acquired(cache, prompt, ACME)
    for published in (0, 4, 8, 12):
        cache.publish(lease, prompt, published)
        for limit in range(len(prompt) + 1):
            depth, keys = cache.keys_ahead(lease.chain, prompt, limit=limit)
            assert depth == min(published, limit) // 4
            assert keys == lease.chain.keys(4)[depth : limit // 4]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_gives_up_what_is_shared_after_all_that_stands_on_it(
    index: str, policy: str
) -> None:
    cache = PrefixCache(12, 4, index=index, policy=POLICIES[policy]())
    for number in range(30):
        space = (ACME, GLOBEX)[number % 2]
        stored(cache, [*SYSTEM, *range(50 * number, 50 * number + 9 + number % 3 * 4)], space)
        shared = [event for event in cache.findable() if event.namespace.tenant == "everybody"]
        assert sum(len(event.keys) for event in shared) == 2
    assert cache.evicted > 60


# Pins


def pinned(kept: Kept, tokens: Sequence[int], space: Namespace, **how: int) -> int:
    shared = kept.cache.chain(namespace(tenant="everybody"))
    shared.extend(SYSTEM)
    pin = kept.cache.pin(kept.cache.chain(space, shared), tokens, ttl=100.0, **how)
    kept.cache.audit()
    assert pin is not None
    return pin.tokens


def test_a_pin_behind_what_is_shared_costs_its_tenant_only_what_is_its_own(index: str) -> None:
    kept = Kept(20, index, retention_budget=1)
    stored(kept.cache, [*SYSTEM, *range(50, 54)], ACME)
    assert pinned(kept, [*SYSTEM, *range(50, 54)], ACME) == 12
    kept.flood(17)
    assert kept.cache.cached == 3
    assert acquired(kept.cache, [*SYSTEM, *range(50, 54), 1], ACME).cached_tokens == 12
    with pytest.raises(OverBudget):
        pinned(kept, SYSTEM, GLOBEX)


def test_pins_of_what_is_shared_have_a_budget_of_their_own(index: str) -> None:
    kept = Kept(20, index, retention_budget=2)
    stored(kept.cache, [*SYSTEM, *range(50, 58)], ACME)
    assert pinned(kept, [*SYSTEM, *range(50, 58)], ACME) == 16
    assert pinned(kept, SYSTEM, ACME) == pinned(kept, SYSTEM, GLOBEX) == 8
    for tenant in ("acme", "globex"):
        for pin in kept.live(tenant):
            kept.unpin(pin)
    assert kept.cache._tree.retention.used("everybody") == 0


def test_a_use_renews_the_pins_of_its_own_tenant_alone(index: str) -> None:
    kept = Kept(20, index)
    stored(kept.cache, SYSTEM, ACME)
    for space in (ACME, GLOBEX):
        pinned(kept, SYSTEM, space)
    kept.now = 60.0
    kept.cache.release(acquired(kept.cache, [*SYSTEM, 1], GLOBEX))
    (acme,), (globex,) = kept.live("acme"), kept.live("globex")
    assert (acme.until, globex.until) == (100.0, 160.0)


def test_a_shared_prefix_is_whole_blocks(cache: PrefixCache) -> None:
    for tokens in ([], [1, 2, 3]):
        chain = cache.chain(namespace(tenant="everybody"))
        chain.extend(tokens)
        with pytest.raises(ValueError, match="whole blocks"):
            cache.chain(ACME, chain)
