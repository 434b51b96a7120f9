"""The picture of the tree: what people and pages are shown of it."""

import random

import pytest
from tests.cache.build import acquired, namespace, stored

from headstart.cache import PrefixCache, TreeNode

ALL = 1_000


def checked(picture: list[TreeNode]) -> list[TreeNode]:
    """The same; the test fails if it isn't a picture of whole trees, parents first."""
    assert [node.id for node in picture] == list(range(len(picture)))
    for node in picture:
        assert node.parent is None or node.parent < node.id
        if node.parent is not None:
            parent = picture[node.parent]
            assert node.begin == parent.begin + parent.tokens
            assert node.tenant == parent.tenant
    return picture


def sums(picture: list[TreeNode]) -> dict[int, int]:
    """Tokens in and below each node, added up from the leaves."""
    totals = {node.id: node.tokens for node in picture}
    for node in reversed(picture):
        if node.parent is not None:
            totals[node.parent] += totals[node.id]
    return totals


@pytest.fixture
def branched(index: str) -> PrefixCache:
    """A trunk of 8 tokens, branches of 8, 4 and (a tail) 2 behind it; 4 of another tenant."""
    cache = PrefixCache(40, 4, index=index)
    stored(cache, range(16))
    stored(cache, [*range(8), 70, 71, 72, 73])
    stored(cache, [*range(8), 80, 81], tail=True)
    stored(cache, range(4), namespace(tenant="globex"))
    return cache


def test_an_empty_cache_has_an_empty_picture(index: str) -> None:
    cache = PrefixCache(4, 4, index=index)
    assert cache.tree(None, ALL) == []
    acquired(cache, range(9))
    assert cache.tree(None, ALL) == []


def test_parents_stand_before_their_children_and_all_that_is_findable_is_there(
    branched: PrefixCache,
) -> None:
    picture = checked(branched.tree(None, ALL))
    assert sum(node.tokens for node in picture) == 8 + 8 + 4 + 2 + 4
    assert {node.id: node.subtree_tokens for node in picture} == sums(picture)


def test_a_node_says_what_lies_in_it_and_below_it() -> None:
    cache = PrefixCache(40, 4, index="radix")
    stored(cache, range(16))
    stored(cache, [*range(8), 70, 71, 72, 73])
    trunk, *branches = checked(cache.tree("acme", ALL))
    assert (trunk.parent, trunk.begin, trunk.tokens, trunk.subtree_tokens) == (None, 0, 8, 20)
    assert sorted((one.parent, one.begin, one.tokens) for one in branches) == [(0, 8, 4), (0, 8, 8)]


def test_a_tenant_is_shown_its_own_alone(branched: PrefixCache) -> None:
    assert {node.tenant for node in checked(branched.tree("acme", ALL))} == {"acme"}
    (other,) = branched.tree("globex", ALL)
    assert (other.tenant, other.tokens) == ("globex", 4)
    assert branched.tree("nobody", ALL) == []
    assert {node.tenant for node in branched.tree(None, ALL)} == {"acme", "globex"}


def test_of_all_namespaces_of_a_tenant_something_is_shown(index: str) -> None:
    cache = PrefixCache(40, 4, index=index)
    stored(cache, range(4))
    stored(cache, range(4), namespace(salt="pepper"))
    assert [node.parent for node in checked(cache.tree("acme", ALL))] == [None, None]


@pytest.mark.parametrize("nodes", range(8))
def test_a_bounded_picture_keeps_the_largest_and_what_leads_to_them(
    branched: PrefixCache, nodes: int
) -> None:
    whole = branched.tree(None, ALL)
    largest = sorted((node.subtree_tokens for node in whole), reverse=True)
    picture = checked(branched.tree(None, nodes))
    assert sorted((node.subtree_tokens for node in picture), reverse=True) == largest[:nodes]
    roots = [node for node in picture if node.parent is None]
    assert all(node.begin == 0 for node in roots), "a node whose parent was left out"


def test_sums_count_what_the_bound_left_out(branched: PrefixCache) -> None:
    (largest,) = branched.tree("acme", 1)
    assert largest.subtree_tokens == 22


def test_what_is_held_and_what_is_pinned_says_so(index: str) -> None:
    cache = PrefixCache(40, 4, index=index)
    stored(cache, range(8))
    stored(cache, range(50, 58))
    stored(cache, range(90, 98))
    acquired(cache, range(9))
    assert cache.pin(cache.chain(namespace()), range(50, 58), ttl=10) is not None
    picture = checked(cache.tree("acme", ALL))
    assert sum(node.tokens for node in picture if node.held) == 8
    assert sum(node.tokens for node in picture if node.pinned) == 8
    assert not any(node.held and node.pinned for node in picture)


def test_idle_time_is_counted_from_when_it_was_let_go(index: str) -> None:
    now = 0.0
    cache = PrefixCache(40, 4, index=index, clock=lambda: now)
    stored(cache, range(4))
    now = 3.0
    lease = acquired(cache, range(5))
    now = 5.0
    assert [node.idle_seconds for node in cache.tree("acme", ALL)] == [0.0]
    cache.release(lease)
    now = 9.0
    assert [node.idle_seconds for node in cache.tree("acme", ALL)] == [4.0]


def test_uses_are_the_requests_that_reused_it(index: str) -> None:
    cache = PrefixCache(40, 4, index=index)
    stored(cache, range(4))
    for _ in range(3):
        cache.release(acquired(cache, range(9)))
    stored(cache, range(50, 54))
    picture = checked(cache.tree("acme", ALL))
    assert sorted(node.uses for node in picture) == [0, 3]


def test_looking_changes_nothing(branched: PrefixCache) -> None:
    before = branched.tree(None, ALL)
    branched.tree("acme", 1)
    branched.audit()
    assert branched.tree(None, ALL) == before


@pytest.mark.parametrize("seed", range(3))
def test_a_picture_of_random_work_adds_up_whatever_its_bound(index: str, seed: int) -> None:
    rng, prompts = random.Random(seed), [[0]]
    cache = PrefixCache(16, 2, index=index)
    for _ in range(60):
        earlier = rng.choice(prompts[-10:])
        kept = earlier[: rng.randint(0, len(earlier))]
        prompts.append([*kept, *(rng.randint(0, 1) for _ in range(rng.randint(1, 6)))][:24])
        stored(cache, prompts[-1], tail=True)
        whole = checked(cache.tree(None, ALL))
        assert {node.id: node.subtree_tokens for node in whole} == sums(whole)
        assert sum(-(-node.tokens // 2) for node in whole) == cache.cached
        bound = rng.randint(0, len(whole))
        assert len(checked(cache.tree(None, bound))) == bound
