import time

from headstart.cache import BlockKey
from headstart.cache.ghosts import Ghost, Ghosts

OLD, NEW = Ghost("evicted", "lru", 1.0), Ghost("expired", "ttl", 2.0)


def key(number: int) -> BlockKey:
    return BlockKey(bytes([number]))


def known(ghosts: Ghosts, count: int) -> list[int]:
    return [number for number in range(count) if ghosts.get(key(number)) is not None]


def test_how_a_block_went_is_remembered_by_its_key() -> None:
    ghosts = Ghosts(4)
    ghosts.add([key(0), key(1)], OLD)
    ghosts.add([key(2)], NEW)
    assert [ghosts.get(key(number)) for number in range(4)] == [OLD, OLD, NEW, None]


def test_the_oldest_memories_go_first() -> None:
    ghosts = Ghosts(3)
    for number in range(5):
        ghosts.add([key(number)], OLD)
    assert known(ghosts, 5) == [2, 3, 4]


def test_what_went_again_is_remembered_anew_and_goes_later() -> None:
    ghosts = Ghosts(2)
    ghosts.add([key(0)], OLD)
    ghosts.add([key(1)], OLD)
    ghosts.add([key(0)], NEW)
    ghosts.add([key(2)], NEW)
    assert known(ghosts, 3) == [0, 2]
    assert ghosts.get(key(0)) == NEW


def test_more_at_once_than_are_remembered_leave_the_last_of_them() -> None:
    ghosts = Ghosts(2)
    ghosts.add(map(key, range(5)), OLD)
    assert known(ghosts, 5) == [3, 4]


def test_a_memory_of_nothing_remembers_nothing() -> None:
    ghosts = Ghosts(0)
    ghosts.add([key(0)], OLD)
    assert ghosts.get(key(0)) is None


def test_everything_can_be_forgotten() -> None:
    ghosts = Ghosts(2)
    ghosts.add([key(0)], OLD)
    ghosts.clear()
    assert ghosts.get(key(0)) is None


def test_forgetting_costs_no_more_where_many_are_remembered() -> None:
    def seconds(size: int) -> float:
        """To remember 20,000 more where `size` are remembered."""
        ghosts = Ghosts(size)
        keys = [BlockKey(number.to_bytes(32)) for number in range(size + 20_000)]
        ghosts.add(keys[:size], OLD)
        start = time.thread_time()
        for key in keys[size:]:
            ghosts.add([key], OLD)
        return time.thread_time() - start

    assert seconds(65_536) < 10 * seconds(64)
