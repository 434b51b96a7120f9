from tests.cache.policies.scene import Shelf

from headstart.cache.policies.lfu import Lfu


def test_what_was_reused_least_often_goes_first() -> None:
    shelf = Shelf(Lfu())
    shelf.store(0, 1, 2)
    shelf.use(0, 0, 0, 1, 2, 2)
    assert shelf.evict(3) == [1, 2, 0]


def test_among_equals_the_least_recent_goes_first() -> None:
    shelf = Shelf(Lfu())
    shelf.store(0, 1, 2)
    shelf.use(2, 0, 1)
    assert shelf.evict(3) == [2, 0, 1]


def test_fame_never_fades() -> None:
    """Its known weakness; gdsf is what ages."""
    shelf = Shelf(Lfu())
    shelf.store(0)
    shelf.use(0, 0, 0)
    for number in range(1, 30):
        shelf.store(number)
        assert shelf.evict() == [number]


def test_fame_goes_with_what_had_it() -> None:
    shelf = Shelf(Lfu())
    shelf.store(0, 1)
    shelf.use(0, 0, 1, 1, 1)
    assert shelf.evict() == [0]
    shelf.store(0, 2)
    shelf.use(2)
    assert shelf.evict(3) == [0, 2, 1]
