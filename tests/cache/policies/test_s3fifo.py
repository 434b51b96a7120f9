import pytest
from tests.cache.policies.scene import RandomWork, Shelf, findable

from headstart.cache.policies.s3fifo import S3Fifo


def test_of_what_was_never_reused_the_first_goes_first() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(0, 1, 2)
    assert shelf.evict(3) == [0, 1, 2]


def test_a_scan_goes_before_what_was_reused_twice() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(0, 1)
    shelf.use(0, 0)
    for number in range(10, 40):
        shelf.store(number)
        assert shelf.evict() != [0]


def test_one_reuse_is_not_enough() -> None:
    """A prompt that is repeated once was still a one-off."""
    shelf = Shelf(S3Fifo())
    shelf.store(0, 1, 2)
    shelf.use(0, 1, 1)
    assert shelf.evict(3) == [0, 2, 1]


def test_who_failed_on_trial_and_comes_back_is_not_on_trial_again() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(*range(6))
    assert shelf.evict() == [0]
    shelf.store(0)
    assert shelf.evict(6) == [1, 2, 3, 4, 5, 0]


def test_failures_are_remembered_only_as_many_as_the_main_queue_has_blocks() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(*range(6))
    assert shelf.evict(3) == [0, 1, 2]  # None in the main queue: one is remembered.
    shelf.store(0, 2)
    assert shelf.evict(5) == [3, 4, 5, 0, 2]


def test_while_few_are_on_trial_the_main_queue_gives_way() -> None:
    """18 and 19 are on trial, a tenth of all: what was reused goes before what was not."""
    shelf = Shelf(S3Fifo())
    shelf.store(*range(20))
    shelf.use(*range(18), *range(18))
    assert shelf.evict(2) == [0, 18], "then they were more than a tenth"


def test_a_reuse_gives_a_round_in_the_main_queue() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(0, 1, 2, 3)
    shelf.use(0, 0, 1, 1, 2, 2)
    assert shelf.evict() == [3]
    shelf.use(0, 0, 1)
    assert shelf.evict(3) == [2, 1, 0]


def test_no_one_is_given_more_than_three_rounds() -> None:
    shelf = Shelf(S3Fifo())
    shelf.store(0, 1, 2)
    shelf.use(0, 0, 1, 1)
    assert shelf.evict() == [2]
    shelf.use(*[0] * 50, 1, 1, 1)
    assert shelf.evict(2) == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_on_trial_is_counted_right_whatever_happens(index: str, seed: int) -> None:
    policy = S3Fifo()
    work = RandomWork(policy, index, seed)

    def counted() -> None:
        nodes = findable(work.cache)
        assert policy._blocks == sum(len(node.blocks) for node in nodes)
        assert policy._small_blocks == sum(len(node.blocks) for node in nodes if not node.order)
        assert len(policy._ghosts) <= max(1, work.cache.total)

    work.run(300, counted)
