import random

import pytest

from headstart.cache.lru import LeafLru
from headstart.cache.pool import BlockId


def popped(lru: LeafLru) -> list[int]:
    return [lru.pop() for _ in range(len(lru))]


def offer(lru: LeafLru, *leaves: tuple[int, int, int]) -> None:
    for block, stamp, depth in leaves:
        lru.add(BlockId(block), stamp=stamp, depth=depth)


def test_the_least_recently_used_goes_first_in_whatever_order_they_came() -> None:
    lru = LeafLru()
    offer(lru, (1, 30, 0), (2, 10, 0), (3, 20, 0))
    assert popped(lru) == [2, 3, 1]


def test_among_leaves_of_one_release_the_deepest_goes_first() -> None:
    lru = LeafLru()
    offer(lru, (1, 5, 0), (2, 5, 2), (3, 5, 1))
    assert popped(lru) == [2, 3, 1]


def test_recency_weighs_more_than_depth() -> None:
    lru = LeafLru()
    offer(lru, (1, 5, 0), (2, 6, 9))
    assert popped(lru) == [1, 2]


def test_a_withdrawn_leaf_is_passed_over() -> None:
    lru = LeafLru()
    offer(lru, (1, 1, 0), (2, 2, 0))
    lru.discard(BlockId(1))
    assert BlockId(1) not in lru
    assert popped(lru) == [2]


def test_withdrawing_what_is_not_there_does_nothing() -> None:
    lru = LeafLru()
    offer(lru, (1, 1, 0))
    lru.discard(BlockId(9))
    assert popped(lru) == [1]


def test_a_leaf_that_comes_back_stands_where_its_new_stamp_puts_it() -> None:
    lru = LeafLru()
    offer(lru, (1, 1, 0), (2, 2, 0))
    lru.discard(BlockId(1))
    offer(lru, (1, 3, 0))
    assert popped(lru) == [2, 1]


def test_a_leaf_given_up_once_is_not_given_up_again() -> None:
    lru = LeafLru()
    offer(lru, (1, 1, 0))
    lru.discard(BlockId(1))
    offer(lru, (1, 1, 0))
    assert lru.pop() == 1
    with pytest.raises(IndexError):
        lru.pop()


def test_an_empty_order_has_nothing_to_give_up() -> None:
    lru = LeafLru()
    offer(lru, (1, 1, 0))
    lru.clear()
    assert len(lru) == 0
    assert BlockId(1) not in lru
    with pytest.raises(IndexError):
        lru.pop()


def test_withdrawn_entries_do_not_pile_up() -> None:
    """A hot block is offered and withdrawn with every request that hits it."""
    lru = LeafLru()
    offer(lru, (1, 0, 0))
    for stamp in range(1, 10_000):
        offer(lru, (2, stamp, 0))
        lru.discard(BlockId(2))
    assert len(lru._heap) < 200
    assert popped(lru) == [1]


def test_the_order_agrees_with_sorting_what_is_left() -> None:
    rng = random.Random(5)
    lru, left = LeafLru(), dict[int, tuple[int, int]]()
    for serial in range(5_000):
        block = rng.randrange(40)
        if block in left and rng.random() < 0.5:
            lru.discard(BlockId(block))
            del left[block]
        elif block not in left:
            left[block] = (serial // 3, -rng.randrange(1000) * 40 - block)  # no two alike
            offer(lru, (block, serial // 3, -left[block][1]))
        if left and rng.random() < 0.2:
            first = min(left, key=lambda block: left[block])
            assert lru.pop() == first
            del left[first]
        assert len(lru) == len(left)
        assert (BlockId(block) in lru) == (block in left)
    assert popped(lru) == sorted(left, key=lambda block: left[block])
