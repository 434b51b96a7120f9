import random

from headstart.cache.node import Node
from headstart.cache.policies import Lru


def leaf(stamp: int) -> Node:
    node = Node(None, b"", [], [], 0)
    node.stamp = stamp
    return node


def offered(lru: Lru, *stamps: int) -> list[Node]:
    leaves = [leaf(stamp) for stamp in stamps]
    for one in leaves:
        lru.offer(one)
    return leaves


def taken(lru: Lru) -> Node:
    """As an eviction does that takes the whole leaf."""
    victim = lru.victim()
    lru.withdraw(victim)
    return victim


def test_the_least_recently_used_goes_first_in_whatever_order_they_came() -> None:
    lru = Lru()
    newest, oldest, middle = offered(lru, 30, 10, 20)
    assert [taken(lru) for _ in range(3)] == [oldest, middle, newest]


def test_a_victim_stays_until_it_is_withdrawn() -> None:
    """Its blocks go one after the other."""
    lru = Lru()
    oldest, newest = offered(lru, 1, 2)
    assert [lru.victim() for _ in range(3)] == [oldest] * 3
    lru.withdraw(oldest)
    assert lru.victim() is newest


def test_what_is_offered_says_so_until_it_is_withdrawn() -> None:
    lru = Lru()
    (one,) = offered(lru, 1)
    assert one.offered
    lru.withdraw(one)
    assert not one.offered


def test_a_withdrawn_leaf_is_passed_over() -> None:
    lru = Lru()
    first, second = offered(lru, 1, 2)
    lru.withdraw(first)
    assert taken(lru) is second


def test_withdrawing_what_is_not_there_does_nothing() -> None:
    lru = Lru()
    (one,) = offered(lru, 1)
    lru.withdraw(leaf(0))
    assert lru.victim() is one


def test_a_leaf_that_comes_back_stands_where_its_new_stamp_puts_it() -> None:
    lru = Lru()
    first, second = offered(lru, 1, 2)
    lru.withdraw(first)
    first.stamp = 3
    lru.offer(first)
    assert [taken(lru), taken(lru)] == [second, first]


def test_a_leaf_that_is_asked_for_while_offered_stands_where_its_new_stamp_puts_it() -> None:
    lru = Lru()
    first, second = offered(lru, 1, 2)
    first.stamp = 3
    lru.offer(first)
    assert [taken(lru), taken(lru)] == [second, first]


def test_a_leaf_given_up_once_is_not_given_up_again() -> None:
    lru = Lru()
    (one,) = offered(lru, 1)
    lru.withdraw(one)
    lru.offer(one)
    lru.offer(one)
    assert taken(lru) is one
    assert len(lru) == 0


def test_an_empty_order_has_nothing_to_give_up() -> None:
    lru = Lru()
    leaves = offered(lru, 1, 2)
    lru.clear()
    assert not any(one.offered for one in leaves)
    assert len(lru) == 0


def test_what_was_cleared_away_can_be_offered_again() -> None:
    lru = Lru()
    (one,) = offered(lru, 1)
    lru.clear()
    lru.offer(one)
    assert lru.victim() is one


def test_withdrawn_entries_do_not_pile_up() -> None:
    """A hot block is offered and withdrawn with every request that hits it."""
    lru = Lru()
    cold, hot = offered(lru, 0, 1)
    lru.withdraw(hot)
    for stamp in range(2, 10_000):
        hot.stamp = stamp
        lru.offer(hot)
        lru.withdraw(hot)
    assert len(lru._heap) < 200
    assert taken(lru) is cold


def test_outdated_entries_do_not_pile_up() -> None:
    """Nor with every request that waits in the queue and touches it."""
    lru = Lru()
    cold, hot = offered(lru, 0, 1)
    for stamp in range(2, 10_000):
        hot.stamp = stamp
        lru.offer(hot)
    assert len(lru._heap) < 200
    assert [taken(lru), taken(lru)] == [cold, hot]


def test_the_order_agrees_with_sorting_what_is_left() -> None:
    rng = random.Random(5)
    lru, nodes, left = Lru(), [leaf(0) for _ in range(40)], set[Node]()
    for serial in range(5_000):
        node = rng.choice(nodes)
        if node in left and rng.random() < 0.4:
            lru.withdraw(node)
            left.remove(node)
        else:
            node.stamp = serial
            lru.offer(node)
            left.add(node)
        if left and rng.random() < 0.2:
            left.remove(oldest := min(left, key=lambda node: node.stamp))
            assert taken(lru) is oldest
        assert {node for node in nodes if node.offered} == left
        assert len(lru) == len(left)
    in_order = sorted(left, key=lambda node: node.stamp)
    assert [taken(lru) for _ in in_order] == in_order
