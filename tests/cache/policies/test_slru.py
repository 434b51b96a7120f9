import pytest
from tests.cache.policies.scene import RandomWork, Shelf, findable

from headstart.cache.policies.slru import Slru


def test_what_was_reused_outlives_what_came_later_and_was_not() -> None:
    shelf = Shelf(Slru())
    shelf.store(0, 1)
    shelf.use(0)
    shelf.store(2, 3)
    assert shelf.evict(4) == [1, 2, 3, 0]


def test_a_scan_does_not_drive_out_what_was_reused() -> None:
    shelf = Shelf(Slru())
    shelf.store(0, 1, 2, 3)
    shelf.use(0, 1)
    for number in range(10, 40):
        shelf.store(number)
        assert shelf.evict()[0] not in (0, 1)


def test_within_a_segment_the_least_recent_goes_first() -> None:
    shelf = Shelf(Slru())
    shelf.store(0, 1, 2, 3, 4, 5)
    shelf.use(1, 0, 1)
    assert shelf.evict(6) == [2, 3, 4, 5, 0, 1]


def test_the_protected_have_half_and_the_least_recent_beyond_goes_back() -> None:
    """Back as the most recent of the others: it goes after them, before who is still protected."""
    shelf = Shelf(Slru())
    shelf.store(0, 1, 2, 3)
    shelf.use(0, 1, 2)
    assert shelf.evict(4) == [3, 0, 1, 2]


def test_where_everything_was_reused_the_least_recent_goes_first() -> None:
    shelf = Shelf(Slru())
    shelf.store(0, 1, 2, 3)
    shelf.use(3, 2, 1, 0)
    assert shelf.evict(4) == [3, 2, 1, 0]


def test_who_went_back_is_protected_again_when_reused() -> None:
    shelf = Shelf(Slru())
    shelf.store(0, 1, 2, 3)
    shelf.use(0, 1, 2)
    assert shelf.evict() == [3]
    shelf.use(0)
    shelf.store(4)
    assert shelf.evict(2) == [4, 1], "now it is the turn of 1 to go back"


@pytest.mark.parametrize("seed", range(3))
def test_what_is_protected_is_counted_right_whatever_happens(index: str, seed: int) -> None:
    policy = Slru()
    work = RandomWork(policy, index, seed)

    def counted() -> None:
        nodes = findable(work.cache)
        assert policy._blocks == sum(len(node.blocks) for node in nodes)
        assert policy._kept_blocks == sum(len(node.blocks) * node.mark for node in nodes)

    work.run(300, counted)
