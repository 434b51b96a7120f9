"""The walk and the blocks of a plain prefix cache."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headstart.cache import Chain, Reason
from headstart.insight.explain.plain import namespace, play, walk

SPACE = namespace("model", "", None, 16)


def test_3500_tokens_in_common_are_3488_in_blocks_of_16_and_12_are_computed_again() -> None:
    """S0 §7.1's example."""
    ids = list(range(4000))
    told = play((SPACE, ids), (SPACE, [*ids[:3500], *([9] * 500)]))
    assert (told.at, told.cached, told.aligned, told.blocks, told.odd) == (
        3500,
        3500,
        3488,
        218,
        12,
    )
    assert told.reason is Reason.DIVERGED


def test_all_but_the_last_token_of_the_same_prompt_is_read() -> None:
    told = play((SPACE, range(64)), (SPACE, range(64)))
    assert (told.cached, told.reason) == (63, Reason.CAPPED)


def test_what_goes_on_from_all_that_is_cached_meets_what_was_never_seen() -> None:
    told = play((SPACE, range(50)), (SPACE, range(80)))
    assert (told.at, told.reason) == (50, Reason.NEVER_SEEN)


def test_another_salt_is_another_namespace_and_another_tenant_is_nothing_at_all() -> None:
    salted = namespace("model", "", "pepper", 16)
    told = play((SPACE, range(64)), (salted, range(64)))
    assert (told.cached, told.reason, told.fields) == (0, Reason.OTHER_NAMESPACE, ("salt",))
    other = namespace("model", "bob", None, 16)
    assert play((SPACE, range(64)), (other, range(64))).reason is Reason.NEVER_SEEN


def test_a_block_behind_a_difference_misses_though_its_own_tokens_are_the_same() -> None:
    before = list(range(100))
    after = [*before[:20], 7, *before[21:]]
    steps = walk((SPACE, before), (SPACE, after))
    assert [step.hit for step in steps] == [True, False, False, False, False, False]
    assert [step.same for step in steps] == [True, False, True, True, True, True]


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40))
def test_hits_are_a_run_from_block_0_and_keys_are_those_of_the_cache(
    before: list[int], after: list[int]
) -> None:
    space = namespace("m", "t", None, 4)
    steps = walk((space, before), (space, after))
    hits = [step.hit for step in steps]
    assert hits == sorted(hits, reverse=True)
    same = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    common = min(len(before), len(after)) if same is None else same
    assert sum(hits) == common // 4
    chain = Chain(space, 0)
    chain.extend(after)
    assert [step.key for step in steps] == chain.keys(len(after) // 4)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.integers(0, 40), st.data())
def test_what_is_read_is_what_both_begin_with_and_never_all(
    before: list[int], cut: int, data: Any
) -> None:
    after = before[:cut] + data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=20))
    space = namespace("m", "t", None, 4)
    told = play((space, before), (space, after))
    pairs = zip(before, after, strict=False)
    common = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    assert told.cached == min(common, len(after) - 1)
    assert told.aligned == told.cached // 4 * 4
