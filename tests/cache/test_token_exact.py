"""A prefix is matched to the token, also where it ends inside a block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cache.build import Memory, acquired, cached_tokens, common_prefix, stored

from headstart.cache import BlockCopy, PrefixCache

SIZES = [1, 2, 16, 784, 1024]


@pytest.mark.parametrize("size", SIZES)
def test_a_full_repeat_leaves_exactly_one_token(index: str, size: int) -> None:
    cache = PrefixCache(12, size, index=index)
    stored(cache, range(3 * size))
    again = acquired(cache, range(3 * size))
    assert again.cached_tokens == 3 * size - 1
    assert len(again.blocks) == 3


@pytest.mark.parametrize("size", SIZES)
def test_a_full_repeat_that_ends_inside_a_block_leaves_exactly_one_token(
    index: str, size: int
) -> None:
    cache = PrefixCache(12, size, index=index)
    prompt = range(2 * size + -(-size // 3))
    stored(cache, prompt, tail=True)
    assert acquired(cache, prompt).cached_tokens == len(prompt) - 1


@pytest.mark.parametrize("tail", [False, True])
def test_240_shared_tokens_are_a_hit_of_240_though_a_block_has_784(index: str, tail: bool) -> None:
    cache = PrefixCache(6, 784, index=index)
    system, question = list(range(240)), [9_000 + n for n in range(700)]
    whole = [*system, *question[: 300 if tail else 544]]
    known = stored(cache, whole, tail=tail)
    lease = acquired(cache, [*system, 7, 7, 7])
    assert lease.cached_tokens == 240
    assert cache.take_copies() == [BlockCopy(known.blocks[0], lease.blocks[0], 240)]


@pytest.mark.parametrize("size", SIZES)
def test_two_prompts_that_part_inside_a_block_share_the_tokens_before(
    index: str, size: int
) -> None:
    cache = PrefixCache(20, size, index=index)
    memory = Memory(cache)
    shared = size + size // 2
    one, other = [*range(shared), *[7] * 2 * size], [*range(shared), *[8] * 2 * size]
    leases = []
    for prompt in (one, other, [*one, 5], [*other, 5]):
        lease = acquired(cache, prompt)
        memory.compute(lease, prompt)
        assert memory.read(lease, len(prompt)) == prompt
        cache.publish(lease, prompt, tail=True)
        cache.release(lease)
        cache.audit()
        leases.append(lease)

    assert [lease.cached_tokens for lease in leases] == [0, shared, 3 * size + size // 2, len(one)]
    assert leases[1].blocks[:1] == leases[0].blocks[:1]
    assert set(leases[1].blocks[1:]).isdisjoint(leases[0].blocks)


@pytest.mark.parametrize("prompt", range(1, 12))
def test_every_length_of_a_known_prefix_is_found(index: str, prompt: int) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(10), tail=True)
    assert cached_tokens(cache, [*range(prompt), 99]) == min(prompt, 10)


@pytest.mark.parametrize("unit", [4, 8])
def test_with_whole_blocks_only_a_match_inside_a_block_is_worth_nothing(
    index: str, unit: int
) -> None:
    cache = PrefixCache(12, 4, reuse_unit=unit, index=index)
    stored(cache, range(16), tail=True)
    for shared in range(17):
        lease = acquired(cache, [*range(shared), 99])
        assert lease.cached_tokens == shared // unit * unit
        assert cache.take_copies() == []
        cache.release(lease)


origins = st.tuples(st.integers(0, 9), st.integers(0, 60), st.integers(0, 3), st.integers(0, 60))
"""Which earlier prompt to follow, how far, and what else to say how often."""


def written_out(plans: list[tuple[int, int, int, int]]) -> list[list[int]]:
    prompts: list[list[int]] = []
    for earlier, keep, letter, count in plans:
        before = prompts[earlier % len(prompts)][:keep] if prompts else []
        prompts.append([*before, *[letter] * count])
    return prompts


@given(
    st.lists(origins, min_size=1, max_size=10),
    st.lists(origins, min_size=1, max_size=6),
    st.sampled_from([1, 2, 3, 7, 16, 50]),
    st.booleans(),
)
def test_a_match_is_as_long_as_the_longest_prefix_in_common_with_anything_kept(
    index: str,
    kept: list[tuple[int, int, int, int]],
    asked: list[tuple[int, int, int, int]],
    size: int,
    tail: bool,
) -> None:
    cache = PrefixCache(10 * 601, size, index=index)
    memory = Memory(cache)
    prompts = written_out(kept + asked)
    known: list[list[int]] = []
    for prompt in prompts[: len(kept)]:
        lease = acquired(cache, prompt)
        memory.compute(lease, prompt)
        assert memory.read(lease, len(prompt)) == prompt
        cache.publish(lease, prompt, tail=tail)
        cache.release(lease)
        known.append(prompt if tail else prompt[: len(prompt) // size * size])
    cache.audit()
    for prompt in prompts:
        longest = max(common_prefix(prompt, other) for other in known)
        assert cached_tokens(cache, prompt) == max(0, min(longest, len(prompt) - 1))
