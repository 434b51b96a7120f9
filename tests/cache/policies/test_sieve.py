from tests.cache.policies.scene import Shelf

from headstart.cache.policies.sieve import Sieve


def test_of_what_was_never_reused_the_first_goes_first() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0, 1, 2)
    assert shelf.evict(3) == [0, 1, 2]


def test_what_was_reused_is_spared_until_the_next_sweep() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0, 1, 2)
    shelf.use(0)
    assert shelf.evict(3) == [1, 2, 0]


def test_however_often_it_was_reused_it_is_spared_once() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0, 1)
    shelf.use(*[0] * 20, 1)
    assert shelf.evict(2) == [0, 1]


def test_what_is_new_is_met_before_what_was_spared() -> None:
    """It stands at the end of this sweep; who was spared waits for the next."""
    shelf = Shelf(Sieve())
    shelf.store(0, 1, 2)
    shelf.use(0)
    assert shelf.evict() == [1]
    shelf.store(3)
    assert shelf.evict(3) == [2, 3, 0]


def test_a_reuse_after_the_hand_came_by_spares_it_the_next_time() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0, 1, 2, 3)
    shelf.use(0, 1)
    assert shelf.evict() == [2]
    shelf.use(0)
    assert shelf.evict(3) == [3, 1, 0]


def test_a_reuse_does_not_move_what_the_hand_has_not_met() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0, 1, 2, 3)
    shelf.use(2, 0)
    assert shelf.evict(4) == [1, 3, 0, 2]


def test_a_scan_goes_before_what_is_reused_now_and_then() -> None:
    shelf = Shelf(Sieve())
    shelf.store(0)
    for number in range(1, 60, 3):
        shelf.use(0)
        shelf.store(number, number + 1, number + 2)
        assert 0 not in shelf.evict(3)
