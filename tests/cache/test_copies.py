"""Copy on write: the part of a block that a prompt reuses becomes the beginning of its own."""

import pytest
from tests.cache.build import Memory, acquired, cached_tokens, namespace, stored

from headstart.cache import BlockCopy, Lease, PrefixCache


def computed(cache: PrefixCache, memory: Memory, tokens: list[int]) -> Lease:
    lease = acquired(cache, tokens)
    memory.compute(lease, tokens)
    cache.publish(lease, tokens)
    cache.release(lease)
    return lease


def test_a_match_that_ends_inside_a_block_is_copied_into_the_leases_own(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    known = stored(cache, range(8))
    lease = acquired(cache, [*range(6), 9, 9, 9])
    assert lease.cached_tokens == 6
    assert lease.blocks[0] == known.blocks[0]
    assert lease.blocks[1] != known.blocks[1]
    assert cache.take_copies() == [BlockCopy(known.blocks[1], lease.blocks[1], 2)]


def test_a_match_that_ends_with_a_block_needs_no_copy(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(8))
    for prompt in (range(9), [0, 1, 2, 3, 9], [9, 9]):
        acquired(cache, prompt)
        assert cache.take_copies() == []


@pytest.mark.parametrize("longer", [0, 4])
def test_the_last_block_of_a_full_repeat_is_copied_but_for_one_token(
    index: str, longer: int
) -> None:
    """Also where the known prefix goes on behind it."""
    cache = PrefixCache(8, 4, index=index)
    known = stored(cache, range(8 + longer))
    lease = acquired(cache, range(8))
    assert cache.take_copies() == [BlockCopy(known.blocks[1], lease.blocks[1], 3)]


def test_a_full_repeat_copies_from_the_right_block_whichever_node_has_it(index: str) -> None:
    """The prefix is in three nodes, and the block is not the last one's."""
    cache = PrefixCache(16, 4, index=index)
    known = stored(cache, range(16))
    stored(cache, [*range(4), 90, 91, 92, 93])
    stored(cache, [*range(8), 90, 91, 92, 93])
    for end in (4, 8, 12, 16):
        lease = acquired(cache, range(end), limit=end)
        at = end // 4 - 1
        assert cache.take_copies() == [BlockCopy(known.blocks[at], lease.blocks[at], 3)]
        cache.release(lease)


def test_each_copy_is_handed_out_once(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(4))
    acquired(cache, [0, 1, 9])
    assert len(cache.take_copies()) == 1
    assert cache.take_copies() == []


def test_a_refused_prompt_asks_for_no_copy(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    stored(cache, range(4))
    assert cache.acquire(cache.chain(namespace()), [0, 1, *[9] * 8]) is None
    assert cache.take_copies() == []


def test_copies_come_in_the_order_of_the_leases_that_rely_on_them(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    stored(cache, range(4))
    leases = [acquired(cache, [*range(n), 9, 9]) for n in (3, 1, 2)]
    copies = cache.take_copies()
    assert [copy.target for copy in copies] == [lease.blocks[0] for lease in leases]
    assert [copy.tokens for copy in copies] == [3, 1, 2]


def test_a_source_in_use_is_left_as_it_is(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    memory = Memory(cache)
    first, other = list(range(7)), [0, 1, 2, 3, 4, 90, 91]
    running = acquired(cache, first)
    memory.compute(running, first)
    cache.publish(running, first, tail=True)
    lease = acquired(cache, other)
    memory.compute(lease, other)
    assert lease.cached_tokens == 5
    assert memory.read(lease, 7) == other
    assert memory.read(running, 7) == first


def test_a_source_may_be_given_up_for_the_very_lease_that_copies_it(index: str) -> None:
    cache = PrefixCache(2, 4, index=index)
    memory = Memory(cache)
    computed(cache, memory, [0, 1, 2, 3])
    prompt = [0, 1, 2, *[9] * 5]
    lease = acquired(cache, prompt)
    memory.compute(lease, prompt)
    assert lease.cached_tokens == 3
    assert memory.read(lease, 8) == prompt
    assert cache.evicted == 1


def test_a_source_may_be_given_to_the_next_lease_of_the_same_plan(index: str) -> None:
    """In any other order the second copy would overwrite what the first one reads."""
    cache = PrefixCache(3, 4, index=index)
    memory = Memory(cache)
    (source,) = computed(cache, memory, [0, 1, 2, 3]).blocks
    computed(cache, memory, [5, 6, 7, 8])
    first, second = acquired(cache, [0, 1, 90]), acquired(cache, [5, 6, 91])
    assert second.blocks == [source], "the test is about this"
    memory.compute(first, [0, 1, 90])
    memory.compute(second, [5, 6, 91])
    assert memory.read(first, 3) == [0, 1, 90]
    assert memory.read(second, 3) == [5, 6, 91]


def test_a_lease_that_ends_before_its_copy_ran_harms_nobody_who_has_its_block_next(
    index: str,
) -> None:
    cache = PrefixCache(2, 4, index=index)
    memory = Memory(cache)
    computed(cache, memory, [0, 1, 2, 3])
    gone = acquired(cache, [0, 1, 90])
    cache.release(gone)
    prompt = [0, 1, 2, 91]
    lease = acquired(cache, prompt)
    memory.compute(lease, prompt)
    assert memory.read(lease, 4) == prompt
    cache.audit()


def test_a_partly_reused_block_is_published_as_a_whole(index: str) -> None:
    cache = PrefixCache(8, 4, index=index)
    memory = Memory(cache)
    computed(cache, memory, [0, 1, 2, 3])
    prompt = [0, 1, 90, 91, 92]
    lease = computed(cache, memory, prompt)
    assert lease.cached_tokens == 2
    assert cached_tokens(cache, prompt) == 4
    assert cached_tokens(cache, [0, 1, 2, 3, 4]) == 4
