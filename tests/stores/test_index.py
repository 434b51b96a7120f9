"""The index under every policy, against naive lists of rows."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.cache import POLICIES, Visit
from headstart.cache.keys import BlockKey
from headstart.cache.policies.lru import Lru
from headstart.cache.policies.worth import Worth
from headstart.stores.index import MOST_OPEN, MOST_TOLD, LeafIndex, Row
from headstart.stores.reports import Report

ROOT = BlockKey(b"root")


def key(number: int) -> BlockKey:
    return BlockKey(b"%d" % number)


def row(parent: BlockKey | None, *, depth: int = 0, stamp: int = 0, size: int = 1) -> Row[str]:
    return Row(parent, depth, 1, stamp, size, stamp, "")


def enter(index: LeafIndex[str], number: int, added: Row[str]) -> None:
    """A request computes one chunk and is over."""
    index.written(key(number), added)
    index.used(Report([key(number)], 0, added.stamp, Visit()))


def drained(index: LeafIndex[str]) -> list[BlockKey]:
    order = []
    while (victim := index.victim()) is not None:
        index.remove(victim)
        order.append(victim)
    return order


def test_children_go_before_their_parent_however_old_it_is() -> None:
    index: LeafIndex[str] = LeafIndex()
    enter(index, 2, row(key(1), depth=8, stamp=30))
    enter(index, 1, row(key(0), depth=4, stamp=10))
    enter(index, 0, row(ROOT, stamp=1))
    assert drained(index) == [key(2), key(1), key(0)]


def test_of_two_leaves_the_one_used_longest_ago_goes_first() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in range(3):
        enter(index, number, row(ROOT, stamp=number))
    index.touch(key(0), 9)
    index.touch(key(2), 0)
    assert drained(index) == [key(1), key(2), key(0)]


def test_of_equals_that_were_found_the_deepest_goes_first() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in range(3):
        index.found(key(number), row(None, depth=number * 4, stamp=5))
    for found, stamp in index.waiting():
        index.resume(found, stamp)
    assert drained(index) == [key(2), key(1), key(0)]


def test_what_was_found_is_not_given_up_before_it_is_known_what_else_there_is() -> None:
    index: LeafIndex[str] = LeafIndex()
    index.found(key(1), row(ROOT))
    assert index.victim() is None
    index.resume(*index.waiting()[0])
    assert index.victim() == key(1)


def test_a_victim_stays_until_it_is_removed() -> None:
    index: LeafIndex[str] = LeafIndex()
    enter(index, 1, row(ROOT))
    assert index.victim() == index.victim() == key(1)
    assert len(index) == 1


def test_the_policy_stays_small_under_many_touches() -> None:
    policy = Lru()
    index: LeafIndex[str] = LeafIndex(policy)
    enter(index, 1, row(ROOT))
    for stamp in range(10_000):
        index.touch(key(1), stamp)
    assert len(policy._heap) < 100
    assert drained(index) == [key(1)]


@pytest.mark.parametrize("name", POLICIES)
def test_a_running_requests_chunks_are_not_given_up_for_anothers(name: str) -> None:
    """However little a policy thinks of what it has not seen the end of."""
    index: LeafIndex[str] = LeafIndex(POLICIES[name]())
    for number in range(3):
        index.written(key(number), row(key(number - 1) if number else ROOT, depth=number, stamp=1))
    enter(index, 10, row(ROOT, stamp=20))
    index.written(key(20), row(ROOT, stamp=30))
    assert drained(index)[0] == key(10)


def test_the_chunk_that_a_new_one_continues_is_spared() -> None:
    index: LeafIndex[str] = LeafIndex()
    index.written(key(1), row(ROOT))
    assert index.victim(spared=key(1)) is None
    enter(index, 2, row(ROOT, stamp=5))
    assert index.victim(spared=key(1)) == key(2)
    assert index.victim(spared=key(2)) == key(1)


def test_requests_that_never_end_do_not_keep_their_chunks_for_ever() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in range(MOST_OPEN + 1):
        index.written(key(number), row(ROOT, stamp=number))
    enter(index, 1000, row(ROOT, stamp=1000))
    assert drained(index)[:3] == [key(0), key(1), key(1000)]


def test_a_chunk_that_is_written_when_its_request_is_over_is_one_like_any_other() -> None:
    policy = Worth()
    index: LeafIndex[str] = LeafIndex(policy)
    for number in range(2):
        index.written(key(number), row(key(number - 1) if number else ROOT, depth=number, stamp=1))
    index.used(Report([key(0), key(1), key(2)], 0, 2, Visit(now=2.0)))
    assert len(policy) == 0
    index.written(key(2), row(key(1), depth=2, stamp=3))
    assert index.victim() == key(2)
    assert policy._worth(policy._unit(index._nodes[key(0)])) > 0


def test_a_last_chunk_that_never_comes_does_not_keep_the_others_unjudged() -> None:
    policy = Worth()
    index: LeafIndex[str] = LeafIndex(policy)
    index.written(key(0), row(ROOT, stamp=1))
    index.used(Report([key(0), key(1)], 0, 2, Visit(now=2.0)))
    for number in range(MOST_TOLD):
        index.used(Report([key(1000 + number)], 0, 3, Visit(now=3.0)))
    assert index.victim() == key(0)
    assert policy._worth(policy._unit(index._nodes[key(0)])) > 0


def test_chunks_may_come_from_the_end_of_a_prefix() -> None:
    index: LeafIndex[str] = LeafIndex()
    for number in (2, 1, 0):
        index.written(key(number), row(key(number - 1) if number else ROOT, depth=number, stamp=1))
    index.used(Report([key(0), key(1), key(2)], 0, 2, Visit()))
    enter(index, 9, row(ROOT, stamp=5))
    assert drained(index) == [key(2), key(1), key(0), key(9)]


def test_a_chunk_that_many_requests_reuse_outlives_one_that_was_used_later() -> None:
    index: LeafIndex[str] = LeafIndex(POLICIES["lfu"]())
    for number in range(2):
        enter(index, number, row(ROOT, stamp=number))
    for stamp in range(10, 13):
        index.used(Report([key(0)], 1, stamp, Visit()))
    index.used(Report([key(1)], 1, 20, Visit()))
    assert (index.get(key(0)) or row(None)).uses == 3
    assert drained(index) == [key(1), key(0)]


@given(st.integers(0, 10_000))
def test_any_history_gives_up_what_a_naive_list_by_last_use_would(seed: int) -> None:
    draw = random.Random(seed)
    index: LeafIndex[str] = LeafIndex()
    naive: dict[BlockKey, Row[str]] = {}
    for stamp in range(60):
        chosen = draw.randrange(12)
        match draw.randrange(4):
            case 0:
                parent = ROOT if chosen < 3 else key(chosen // 3)
                added = row(parent, depth=chosen, stamp=stamp, size=draw.randrange(9))
                enter(index, chosen, added)
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


class Conversations:
    """Sessions that share a beginning and go on, in an index of at most `most` chunks."""

    def __init__(self, seed: int, policy: Any, most: int = 24) -> None:
        self.index: LeafIndex[str] = LeafIndex(policy)
        self.rows: dict[BlockKey, Row[str]] = {}
        self.draw = random.Random(seed)
        self.paths: list[list[BlockKey]] = []
        self.now = 0
        self.most = most
        self.order: list[BlockKey] = []

    def turn(self) -> None:
        """One request: an old conversation goes on, is edited, or a new one begins."""
        self.now += self.draw.randrange(1, 40)
        old = self.draw.choice(self.paths) if self.paths and self.draw.random() < 0.7 else []
        path = old[: self.draw.randrange(len(old) + 1)] if self.draw.random() < 0.3 else old[:]
        reused = 0
        while reused < len(path) and path[reused] in self.rows:
            reused += 1
        fresh = self.draw.randrange(1, 4)
        path += [BlockKey(self.draw.randbytes(8)) for _ in range(fresh)]
        for at in range(reused, len(path)):
            self._store(path[at], path[at - 1] if at else ROOT, at)
        said = self.draw.choice([None, "stop", "length"])
        visit = Visit(float(self.now), len(path), len(path) - reused, 1, stop=said)
        self.index.used(Report(path, reused, self.now, visit))
        self.paths.append(path)

    def leaves(self) -> set[BlockKey]:
        return self.rows.keys() - {r.parent for r in self.rows.values()}

    def _store(self, chunk: BlockKey, parent: BlockKey, depth: int) -> None:
        while len(self.rows) >= self.most:
            victim = self.index.victim(spared=parent)
            assert victim in self.leaves() - {parent}
            self._give_up(victim)
        self.rows[chunk] = row(parent, depth=depth, stamp=self.now)
        self.index.written(chunk, self.rows[chunk])

    def _give_up(self, victim: BlockKey) -> None:
        self.index.remove(victim)
        del self.rows[victim]
        self.order.append(victim)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=examples(8))
@given(seed=st.integers(0, 10_000))
def test_under_every_policy_only_leaves_go_and_always_the_same_ones(name: str, seed: int) -> None:
    one, other = (Conversations(seed, POLICIES[name]()) for _ in range(2))
    for _ in range(25):
        one.turn()
        other.turn()
    assert one.order == other.order
    assert set(one.index) == one.rows.keys()
    assert len(drained(one.index)) == len(one.rows)


@settings(max_examples=examples(8))
@given(st.integers(0, 10_000))
def test_under_worth_the_leaf_that_is_worth_least_goes_first(seed: int) -> None:
    """Whatever was learned: all leaves are priced anew, and none is cheaper than the victim."""
    policy = Worth()
    told = Conversations(seed, policy)
    for _ in range(40):
        told.turn()
        victim = told.index.victim()
        assert victim is not None
        prices = {
            leaf: policy._worth(policy._unit(told.index._nodes[leaf])) for leaf in told.leaves()
        }
        assert prices[victim] == min(prices.values())
