import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cache.pool import BlockId, BlockPool


def free_blocks(pool: BlockPool) -> list[int]:
    return [block for block in range(pool.total) if pool.is_free(BlockId(block))]


def pool_with_free(total: int, free: set[int]) -> BlockPool:
    pool = BlockPool(total)
    pool.take(total)
    for block in sorted(free):
        pool.give(BlockId(block))
    return pool


def test_a_new_pool_is_all_free() -> None:
    pool = BlockPool(5)
    assert (pool.total, pool.free, free_blocks(pool)) == (5, 5, [0, 1, 2, 3, 4])


def test_what_is_taken_is_no_longer_free() -> None:
    pool = BlockPool(5)
    taken = pool.take(3)
    assert pool.free == 2
    assert set(free_blocks(pool)) == {0, 1, 2, 3, 4} - set(taken)


def test_taking_nothing_takes_nothing() -> None:
    pool = BlockPool(2)
    assert pool.take(0) == []
    assert pool.take(0, after=BlockId(1), room=5) == []
    assert pool.free == 2


def test_taking_more_than_is_free_is_refused_and_takes_nothing() -> None:
    pool = BlockPool(4)
    pool.take(2)
    with pytest.raises(ValueError, match="3 blocks wanted, 2 free"):
        pool.take(3)
    assert pool.free == 2


def test_giving_a_block_back_twice_is_refused_and_counted_once() -> None:
    pool = BlockPool(4)
    (block,) = pool.take(1)
    pool.give(block)
    with pytest.raises(ValueError, match="free already"):
        pool.give(block)
    assert pool.free == 4


def test_an_empty_pool_hands_out_neighbours_in_order() -> None:
    taken = BlockPool(10).take(4)
    assert taken == list(range(taken[0], taken[0] + 4))


def test_a_sequence_continues_right_behind_its_last_block() -> None:
    pool = BlockPool(10)
    first = pool.take(3)
    assert pool.take(2, after=first[-1]) == [first[-1] + 1, first[-1] + 2]


def test_a_sequence_continues_as_far_as_its_neighbours_are_free() -> None:
    pool = pool_with_free(10, {3, 4, 7, 8, 9})
    taken = pool.take(4, after=BlockId(2))
    assert taken[:2] == [3, 4]
    assert set(taken[2:]) < {7, 8, 9}


def test_the_last_block_of_the_pool_has_no_neighbour_behind_it() -> None:
    pool = pool_with_free(4, {0, 1})
    assert pool.take(2, after=BlockId(3)) == [0, 1]


def test_room_is_left_for_a_sequence_to_grow_before_the_next_begins() -> None:
    pool = BlockPool(20)
    first = pool.take(2, room=4)
    pool.take(2)
    assert pool.take(4, after=first[-1]) == list(range(first[-1] + 1, first[-1] + 5))


def test_room_is_a_wish_that_never_keeps_a_block_from_who_needs_it() -> None:
    pool = BlockPool(6)
    assert sorted(pool.take(6, room=100)) == [0, 1, 2, 3, 4, 5]


def test_a_run_of_neighbours_is_preferred_over_pieces() -> None:
    pool = pool_with_free(12, {0, 2, 4, 8, 9, 10})
    assert pool.take(3) == [8, 9, 10]


def test_a_pool_in_pieces_still_gives_its_last_block() -> None:
    odd = set(range(1, 40, 2))
    assert set(pool_with_free(40, odd).take(20)) == odd


takes = st.tuples(
    st.just("take"), st.integers(0, 12), st.none() | st.integers(0, 29), st.integers(0, 8)
)
gives = st.tuples(st.just("give"), st.integers(0, 29), st.none(), st.just(0))


@given(st.integers(1, 30), st.lists(takes | gives, max_size=40))
def test_the_pool_agrees_with_a_set_of_free_blocks(
    total: int, operations: list[tuple[str, int, int | None, int]]
) -> None:
    pool, free = BlockPool(total), set(range(total))
    for name, number, after, room in operations:
        if name == "give":
            if number < total and number not in free:
                pool.give(BlockId(number))
                free.add(number)
        elif number <= len(free):
            behind = None if after is None else BlockId(after % total)
            taken = pool.take(number, after=behind, room=room)
            assert len(taken) == len(set(taken)) == number
            assert free.issuperset(taken)
            if behind is not None and number and behind + 1 in free:
                assert taken[0] == behind + 1
            free.difference_update(taken)
        assert set(free_blocks(pool)) == free
        assert pool.free == len(free)
