import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.stores.arena import Extent, Extents


def test_all_is_free_at_first_and_may_be_taken_at_once() -> None:
    extents = Extents(100)
    assert extents.take(100) == (0, 100)
    assert extents.take(1) is None
    assert extents.free == 0


def test_freed_neighbours_are_one_piece_again() -> None:
    extents = Extents(90)
    taken = [extents.take(30) for _ in range(3)]
    for i in (0, 2, 1):
        given_back = taken[i]
        assert given_back is not None
        extents.give(given_back)
    assert extents.take(90) == (0, 90)


@pytest.mark.parametrize("extent", [(0, 10), (5, 10), (15, 10), (19, 1), (0, 30)])
def test_what_is_free_cannot_be_given_back(extent: Extent) -> None:
    extents = Extents(30)
    extents.take(30)
    extents.give((0, 10))
    extents.give((15, 10))
    with pytest.raises(ValueError, match="not all taken"):
        extents.give(extent)


@given(st.integers(0, 10_000))
def test_no_byte_is_ever_taken_twice_or_lost(seed: int) -> None:
    draw = random.Random(seed)
    extents, taken = Extents(64), list[Extent]()
    for _ in range(80):
        if draw.random() < 0.6:
            extent = extents.take(draw.randint(1, 20))
            if extent is not None:
                taken.append(extent)
        elif taken:
            extents.give(taken.pop(draw.randrange(len(taken))))
        used = [byte for start, length in taken for byte in range(start, start + length)]
        assert len(used) == len(set(used))
        assert extents.free == 64 - len(used)
    for extent in taken:
        extents.give(extent)
    assert extents.take(64) == (0, 64)
