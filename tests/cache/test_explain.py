import random
from typing import Any

import pytest
from tests.cache.build import acquired, cached_tokens, common_prefix, namespace, stored
from tests.cache.twin import prefix_to

from headstart.cache import Miss, Namespace, PrefixCache, Reason, TreeNode
from headstart.cache.explain import MOST_SPACES
from headstart.cache.report import WINDOW
from headstart.cache.tree import below


class Watched:
    """A cache whose clock stands until it is moved."""

    def __init__(self, blocks: int = 40, size: int = 4, **options: Any) -> None:
        self.now = 100.0
        self.cache = PrefixCache(
            blocks, size, **{"ghosts": 100, "clock": lambda: self.now, **options}
        )

    def miss(
        self, tokens: Any, space: Namespace | None = None, *, limit: int | None = None
    ) -> Miss:
        space = space or namespace(block_size=self.cache.block_size)
        return self.cache.explain(self.cache.chain(space), tokens, limit=limit)


@pytest.fixture
def watched(index: str) -> Watched:
    return Watched(index=index)


def picture(cache: PrefixCache) -> tuple[list[TreeNode], int, int, int]:
    return cache.tree(None, 1000), cache.cached, cache.available, cache.evicted


@pytest.mark.parametrize("more", [1, 2, 5])
def test_reusing_all_but_the_last_token_is_capped(watched: Watched, more: int) -> None:
    stored(watched.cache, range(7 + more), tail=True)
    assert watched.miss(range(8)) == Miss(Reason.CAPPED, 7)


@pytest.mark.parametrize("prompt", [[], [5]])
def test_a_prompt_without_a_token_to_reuse_is_capped(watched: Watched, prompt: list[int]) -> None:
    assert watched.miss(prompt) == Miss(Reason.CAPPED, 0)


def test_what_an_empty_cache_is_asked_for_was_never_seen(watched: Watched) -> None:
    assert watched.miss(range(9)) == Miss(Reason.NEVER_SEEN, 0)


def test_a_prompt_unlike_anything_cached_was_never_seen(watched: Watched) -> None:
    stored(watched.cache, range(50, 60))
    assert watched.miss(range(9)) == Miss(Reason.NEVER_SEEN, 0)


def test_what_follows_the_end_of_everything_cached_was_never_seen(watched: Watched) -> None:
    stored(watched.cache, range(10), tail=True)
    assert watched.miss(range(30)) == Miss(Reason.NEVER_SEEN, 10)


@pytest.mark.parametrize("at", range(1, 20))
def test_a_prompt_that_diverges_is_told_where_to_the_token_and_from_what(
    watched: Watched, at: int
) -> None:
    stored(watched.cache, range(20))
    assert watched.miss([*range(at), 99, 98, 97]) == Miss(
        Reason.DIVERGED, at, cached_ahead=tuple(range(at, 20))
    )


@pytest.mark.parametrize("at", [*range(1, 12), *range(13, 20)])
def test_the_way_on_is_followed_over_several_nodes(watched: Watched, at: int) -> None:
    stored(watched.cache, range(20))
    stored(watched.cache, [*range(12), 70, 71, 72, 73])  # Parts the first one after 12.
    stored(watched.cache, [*range(4), 80, 81, 82, 83])
    miss = watched.miss([*range(at), 99, 98])
    assert miss.at == at
    assert miss.cached_ahead == tuple(range(at, 20))


def test_where_the_way_parts_what_is_ahead_is_one_of_the_ways(watched: Watched) -> None:
    ways = [tuple(range(4, 20)), (80, 81, 82, 83)]
    for way in ways:
        stored(watched.cache, [*range(4), *way])
    miss = watched.miss([*range(4), 99, 98])
    assert (miss.reason, miss.at) == (Reason.DIVERGED, 4)
    assert miss.cached_ahead in ways


def test_the_way_on_goes_into_a_partly_filled_block(watched: Watched) -> None:
    stored(watched.cache, range(10), tail=True)
    assert watched.miss([*range(9), 99]).cached_ahead == ()  # Capped: nothing is in the way.
    assert watched.miss([*range(6), 99, 98]).cached_ahead == (6, 7, 8, 9)


def test_no_more_than_a_window_of_what_is_ahead_is_told(watched: Watched) -> None:
    stored(watched.cache, range(80))
    ahead = watched.miss([*range(6), 99, 98]).cached_ahead
    assert ahead == tuple(range(6, 6 + WINDOW))


def test_what_was_cut_to_whole_units_is_block_floor(index: str) -> None:
    watched = Watched(index=index, reuse_unit=8)
    stored(watched.cache, range(12))
    assert cached_tokens(watched.cache, range(30)) == 8
    assert watched.miss(range(30)) == Miss(Reason.BLOCK_FLOOR, 12)


@pytest.mark.parametrize(("length", "unit"), [(5, 8), (8, 8), (12, 8), (15, 8), (16, 8), (3, 4)])
def test_what_is_behind_the_last_whole_unit_of_a_prompt_is_block_floor(
    index: str, length: int, unit: int
) -> None:
    """It can't be cached, so that it was never seen is not what keeps it from being reused."""
    watched = Watched(index=index, reuse_unit=unit)
    kept = (length - 1) // unit * unit
    if kept:
        stored(watched.cache, range(kept))
    assert cached_tokens(watched.cache, range(length)) == kept
    assert watched.miss(range(length)) == Miss(Reason.BLOCK_FLOOR, kept)
    assert watched.miss(range(length + unit)).reason is Reason.NEVER_SEEN


@pytest.mark.parametrize("cached", [8, 16, 24])
def test_a_prompt_that_is_cached_to_its_end_has_not_diverged(index: str, cached: int) -> None:
    """All 8 tokens are there; the last unit is recomputed for the sake of its last token."""
    watched = Watched(index=index, reuse_unit=4)
    stored(watched.cache, range(cached))
    assert watched.miss(range(8)) == Miss(Reason.BLOCK_FLOOR, 8)


def test_a_prompt_that_diverges_inside_a_unit_is_told_so(index: str) -> None:
    watched = Watched(index=index, reuse_unit=8)
    stored(watched.cache, range(16))
    miss = watched.miss([*range(10), 99, 98])
    assert (miss.reason, miss.at, miss.cached_ahead) == (Reason.DIVERGED, 10, tuple(range(10, 16)))


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"salt": "pepper"}, ("salt",)),
        ({"salt": ""}, ("salt",)),
        ({"adapter": b"a" * 32}, ("adapter",)),
        ({"dtype": "bfloat16"}, ("dtype",)),
        ({"weights": b"w" * 32, "rope": "theta=1"}, ("weights", "rope")),
    ],
)
def test_the_same_tokens_in_another_namespace_name_the_fields_that_differ(
    watched: Watched, changes: dict[str, Any], fields: tuple[str, ...]
) -> None:
    stored(watched.cache, range(12), namespace(**changes))
    assert watched.miss(range(12)) == Miss(Reason.OTHER_NAMESPACE, 0, fields=fields)


def test_another_namespace_counts_only_where_it_has_the_whole_first_block(watched: Watched) -> None:
    stored(watched.cache, range(12), namespace(salt="pepper"))
    assert watched.miss([0, 1, 2, 99, 98]) == Miss(Reason.NEVER_SEEN, 0)


def test_where_something_was_reused_no_other_namespace_is_to_blame(watched: Watched) -> None:
    stored(watched.cache, range(12), namespace(salt="pepper"))
    stored(watched.cache, range(4))
    assert watched.miss(range(12)) == Miss(Reason.NEVER_SEEN, 4)


def test_what_lies_in_a_tenants_many_namespaces_is_looked_for_in_some(watched: Watched) -> None:
    for number in range(MOST_SPACES + 3):
        tokens = range(12) if number == 2 else [number] * 4
        stored(watched.cache, tokens, namespace(salt=str(number)))
    assert watched.miss(range(12)).reason == Reason.OTHER_NAMESPACE


def test_nothing_of_another_tenant_is_ever_told(index: str) -> None:
    """Neither what it has, nor what it lost, nor where the common prefix would end."""
    watched, other = Watched(4, index=index), namespace(tenant="globex")
    stored(watched.cache, range(12), other)
    assert watched.miss(range(12)) == Miss(Reason.NEVER_SEEN, 0)
    assert watched.miss([*range(5), 99, 98]) == Miss(Reason.NEVER_SEEN, 0)
    stored(watched.cache, range(50, 66))
    assert watched.cache.evicted
    assert watched.miss(range(12)) == Miss(Reason.NEVER_SEEN, 0)
    assert watched.miss(range(12), other).reason == Reason.EVICTED


def test_what_was_evicted_is_told_with_by_whom_and_when_and_how_much(index: str) -> None:
    watched = Watched(6, index=index)
    stored(watched.cache, range(16))
    watched.now = 107.0
    stored(watched.cache, range(50, 66))
    watched.now = 110.5
    assert cached_tokens(watched.cache, range(20)) == 8
    miss = watched.miss(range(20))
    assert (miss.reason, miss.at, miss.lost_for, miss.lost_tokens) == (Reason.EVICTED, 8, 3.5, 8)
    assert miss.ghost is not None
    assert (miss.ghost.cause, miss.ghost.by, miss.ghost.when) == ("evicted", "lru", 107.0)


def test_of_what_was_evicted_only_what_the_prompt_would_have_reused_is_counted(index: str) -> None:
    watched = Watched(6, index=index)
    stored(watched.cache, range(16))
    stored(watched.cache, range(50, 66))
    assert watched.miss([*range(12), 99, 98, 97, 96, 95]).lost_tokens == 4


def test_what_was_lost_is_counted_from_where_the_common_prefix_ends(index: str) -> None:
    """The two tokens that another block has in common with the lost one are not lost."""
    watched = Watched(3, index=index)
    stored(watched.cache, range(8))
    stored(watched.cache, [*range(6), 70, 71, 72])
    miss = watched.miss([*range(8), 9])
    assert (miss.reason, miss.at, miss.lost_tokens) == (Reason.EVICTED, 6, 2)


def test_what_was_computed_again_is_not_missed_any_more(index: str) -> None:
    watched = Watched(4, index=index)
    stored(watched.cache, range(16))
    stored(watched.cache, range(50, 66))
    assert watched.miss(range(16)).reason == Reason.EVICTED
    stored(watched.cache, range(16))
    assert watched.miss(range(16)).reason == Reason.CAPPED


def test_what_expired_is_told_with_when(index: str) -> None:
    watched = Watched(index=index, ttl=10.0)
    stored(watched.cache, range(12))
    watched.now += 10.0
    assert cached_tokens(watched.cache, range(12)) == 0
    watched.now += 2.0
    miss = watched.miss(range(12))
    assert (miss.reason, miss.at, miss.lost_for, miss.lost_tokens) == (Reason.EXPIRED, 0, 2.0, 12)
    assert miss.ghost is not None
    assert (miss.ghost.cause, miss.ghost.by) == ("expired", "ttl")


def test_what_is_not_remembered_any_more_was_never_seen(index: str) -> None:
    watched = Watched(4, index=index, ghosts=2)
    stored(watched.cache, range(8))
    stored(watched.cache, range(50, 66))
    assert watched.miss(range(9)).reason == Reason.EVICTED
    stored(watched.cache, range(70, 78))
    assert watched.miss(range(9)) == Miss(Reason.NEVER_SEEN, 0)


def test_of_a_prefix_that_went_at_once_the_beginning_is_remembered_longest(index: str) -> None:
    """The reason for a miss is looked up where the miss begins."""
    watched = Watched(4, index=index, ghosts=2)
    stored(watched.cache, range(16))
    stored(watched.cache, range(50, 66))
    miss = watched.miss(range(17))
    assert (miss.reason, miss.lost_tokens) == (Reason.EVICTED, 8)


def test_without_ghosts_what_was_evicted_was_never_seen(index: str) -> None:
    watched = Watched(4, index=index, ghosts=0)
    stored(watched.cache, range(8))
    stored(watched.cache, range(50, 66))
    assert watched.miss(range(9)) == Miss(Reason.NEVER_SEEN, 0)


def test_a_reset_forgets_what_was_lost(index: str) -> None:
    watched = Watched(4, index=index)
    stored(watched.cache, range(8))
    stored(watched.cache, range(50, 66))
    watched.cache.reset()
    assert watched.miss(range(9)) == Miss(Reason.NEVER_SEEN, 0)


def test_a_lease_says_why_it_could_not_reuse_more(watched: Watched) -> None:
    stored(watched.cache, range(12))
    lease = acquired(watched.cache, [*range(7), 99, 98])
    assert lease.miss == Miss(Reason.DIVERGED, 7, cached_ahead=tuple(range(7, 12)))


def test_a_lease_says_why_as_it_was_before_its_own_blocks_drove_others_out(index: str) -> None:
    watched = Watched(4, index=index)
    stored(watched.cache, range(12))
    lease = acquired(watched.cache, [*range(2), *range(60, 74)])
    assert watched.cache.evicted == 3
    assert (lease.miss.reason, lease.miss.at) == (Reason.DIVERGED, 2)


def test_looking_for_the_reason_changes_nothing(index: str) -> None:
    watched = Watched(6, index=index)
    stored(watched.cache, range(10), tail=True)
    stored(watched.cache, [*range(4), 70, 71, 72, 73, 74])
    stored(watched.cache, [80] * 8)
    before = picture(watched.cache)
    for prompt in (range(10), [*range(5), 99], [70] * 9, [80] * 30, []):
        watched.miss(prompt)
        watched.miss(prompt, namespace(salt="pepper"))
        watched.miss(prompt, namespace(tenant="globex"))
    assert picture(watched.cache) == before
    watched.cache.audit()
    stored(watched.cache, [90] * 4)
    assert cached_tokens(watched.cache, [80] * 9) == 8, "the most recent went first"


def _prompt(rng: random.Random, earlier: list[list[int]]) -> list[int]:
    known = rng.choice(earlier) if earlier else []
    kept = known[: rng.randint(0, len(known))]
    return [*kept, *(rng.randint(0, 1) for _ in range(rng.randint(0, 9)))]


@pytest.mark.parametrize("unit", [1, 3, 6])
def test_random_reasons_agree_with_a_list_of_all_that_is_and_was_cached(
    index: str, unit: int
) -> None:
    """`at` is the longest common prefix; what is said of ghosts and of what is ahead is true."""
    rng, reasons = random.Random(unit), set[Reason]()
    watched = Watched(14, 3, index=index, reuse_unit=unit, ghosts=10_000)
    cache, ever = watched.cache, list[list[int]]()
    for _ in range(250):
        tokens = _prompt(rng, ever)
        ever.append(tokens)
        if tokens:
            stored(cache, tokens, tail=unit == 1)
        for prompt in [_prompt(rng, ever) for _ in range(6)]:
            miss = watched.miss(prompt)
            reasons.add(miss.reason)
            _check(cache, watched.miss(prompt), prompt, ever, unit)
    wanted = {Reason.CAPPED, Reason.EVICTED, Reason.DIVERGED, Reason.NEVER_SEEN}
    assert reasons == (wanted if unit == 1 else wanted | {Reason.BLOCK_FLOOR})


def _check(
    cache: PrefixCache, miss: Miss, prompt: list[int], ever: list[list[int]], unit: int
) -> None:
    cached = cached_tokens(cache, prompt, namespace(block_size=3))
    assert (miss.reason == Reason.CAPPED) == (cached >= len(prompt) - 1)
    paths = [path[: len(path) if unit == 1 else len(path) // 3 * 3] for path in _paths(cache)]
    common = max((common_prefix(path, prompt) for path in paths), default=0)
    assert miss.at == (cached if miss.reason == Reason.CAPPED else common)
    known = [*prompt[: miss.at], *miss.cached_ahead]
    assert not miss.cached_ahead or known in [path[: len(known)] for path in paths]
    lost = prompt[: miss.at + miss.lost_tokens]
    once = any(lost == earlier[: len(lost)] for earlier in ever)
    match miss.reason:
        case Reason.EVICTED:
            assert once
            assert miss.lost_tokens > 0
        case Reason.DIVERGED:
            assert miss.cached_ahead[0] != prompt[miss.at]
        case Reason.BLOCK_FLOOR:
            assert unit > 1
            assert miss.at > cached or cached == (len(prompt) - 1) // unit * unit
        case Reason.NEVER_SEEN:
            assert cached < (len(prompt) - 1) // unit * unit or unit == 1
            whole = prompt[: (miss.at // 3 + 1) * 3]
            assert len(whole) % 3 or not any(whole == earlier[: len(whole)] for earlier in ever)


def _paths(cache: PrefixCache) -> list[list[int]]:
    """The tokens from a root to the end of every node."""
    roots = cache._tree.roots.values()
    return [list(prefix_to(node)) for root in roots for node in below(root)]
