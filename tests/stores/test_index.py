"""The index against a naive list of rows."""

import random

from hypothesis import given
from hypothesis import strategies as st

from headstart.cache.keys import BlockKey
from headstart.stores.index import LeafIndex, Row

ROOT = BlockKey(b"root")


def key(number: int) -> BlockKey:
    return BlockKey(b"%d" % number)


def row(parent: BlockKey | None, *, depth: int = 0, stamp: int = 0, size: int = 1) -> Row[str]:
    return Row(parent, depth, size, stamp, "")


def drained(index: LeafIndex[str]) -> list[BlockKey]:
    order = []
    while (victim := index.victim()) is not None:
        index.remove(victim)
        order.append(victim)
    return order


def test_children_go_before_their_parent_however_old_it_is() -> None:
    index: LeafIndex[str] = LeafIndex()
    index.add(key(2), row(key(1), depth=8, stamp=30))
    index.add(key(1), row(key(0), depth=4, stamp=10))
    index.add(key(0), row(ROOT, stamp=1))
    assert drained(index) == [key(2), key(1), key(0)]


def test_of_two_leaves_the_one_used_longest_ago_goes_first() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in range(3):
        index.add(key(number), row(ROOT, stamp=number))
    index.touch(key(0), 9)
    index.touch(key(2), 0)
    assert drained(index) == [key(1), key(2), key(0)]


def test_of_equals_the_deepest_goes_first() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in range(3):
        index.add(key(number), row(None, depth=number * 4, stamp=5))
    assert drained(index) == [key(2), key(1), key(0)]


def test_a_victim_stays_until_it_is_removed() -> None:
    index: LeafIndex[str] = LeafIndex()
    index.add(key(1), row(ROOT))
    assert index.victim() == index.victim() == key(1)
    assert len(index) == 1


def test_the_heap_stays_small_under_many_touches() -> None:
    index: LeafIndex[str] = LeafIndex()
    index.add(key(1), row(ROOT))
    for stamp in range(10_000):
        index.touch(key(1), stamp)
    assert len(index._heap) < 100
    assert drained(index) == [key(1)]


@given(st.integers(0, 10_000))
def test_any_history_gives_up_what_a_naive_index_would(seed: int) -> None:
    draw = random.Random(seed)
    index: LeafIndex[str] = LeafIndex()
    naive: dict[BlockKey, Row[str]] = {}
    for stamp in range(60):
        chosen = draw.randrange(12)
        match draw.randrange(4):
            case 0:
                parent = ROOT if chosen < 3 else key(chosen // 3)
                added = row(parent, depth=chosen, stamp=stamp, size=draw.randrange(9))
                index.add(key(chosen), added)
                naive[key(chosen)] = added
            case 1:
                index.touch(key(chosen), stamp)
            case 2:
                assert (index.remove(key(chosen)) is None) == (key(chosen) not in naive)
                naive.pop(key(chosen), None)
            case 3:
                leaves = [k for k in naive if not any(r.parent == k for r in naive.values())]
                oldest = min(leaves, key=lambda k: naive[k].stamp, default=None)
                assert index.victim() == oldest
        assert index.bytes == sum(r.size for r in naive.values())
        assert set(index) == naive.keys()
