from tests.cache.policies.scene import Shelf

from headstart.cache.policies.fifo import Fifo


def test_what_was_computed_first_goes_first() -> None:
    shelf = Shelf(Fifo())
    shelf.store(0, 1, 2, 3)
    assert shelf.evict(4) == [0, 1, 2, 3]


def test_use_changes_nothing() -> None:
    shelf = Shelf(Fifo())
    shelf.store(0, 1, 2)
    shelf.use(0, 0, 0, 1)
    assert shelf.evict(3) == [0, 1, 2]


def test_what_is_computed_again_goes_last() -> None:
    shelf = Shelf(Fifo())
    shelf.store(0, 1, 2)
    assert shelf.evict() == [0]
    shelf.store(0)
    assert shelf.evict(3) == [1, 2, 0]
