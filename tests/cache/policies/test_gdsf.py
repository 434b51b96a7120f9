from tests.cache.build import stored
from tests.cache.policies.scene import Shelf

from headstart.cache.policies.gdsf import Gdsf


def test_what_was_reused_less_goes_first() -> None:
    shelf = Shelf(Gdsf())
    shelf.store(0, 1, 2)
    shelf.use(0, 0, 1)
    assert shelf.evict(3) == [2, 1, 0]


def test_among_equals_the_least_recent_goes_first() -> None:
    shelf = Shelf(Gdsf())
    shelf.store(0, 1, 2)
    shelf.use(2, 0, 1)
    assert shelf.evict(3) == [2, 0, 1]


def test_fame_fades_as_others_go() -> None:
    """Six times what a new block is worth: about six of them go before it does."""
    shelf = Shelf(Gdsf())
    shelf.store(0)
    shelf.use(*[0] * 5)
    gone = []
    for number in range(1, 10):
        shelf.store(number)
        gone += shelf.evict()
    assert gone.index(0) in (5, 6)


def test_fame_that_is_renewed_does_not_fade() -> None:
    shelf = Shelf(Gdsf())
    shelf.store(0)
    for number in range(1, 40):
        shelf.use(0)
        shelf.store(number)
        assert shelf.evict() == [number]


def test_of_two_used_alike_the_one_that_costs_more_to_compute_stays() -> None:
    """Deep blocks attend to more: here a block at depth 6 costs four times the first token."""
    shelf = Shelf(Gdsf(block_size=4, equal_cost_depth=8))
    stored(shelf.cache, range(1_000, 1_024))
    shelf.store(0, 1)
    assert shelf.evict(2) == [0, 1]
    assert shelf.cache.cached == 6
