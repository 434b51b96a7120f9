import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cache.keys import BlockKey
from headstart.stores.heat import HALF_LIFE, Heat, hottest_first

HOUR = HALF_LIFE
NOW = 472_222 * HOUR


def key(number: int) -> BlockKey:
    return BlockKey(number.to_bytes(32, "big"))


@given(st.lists(st.integers(0, 40 * HOUR), min_size=1, max_size=30))
def test_heat_is_the_sum_of_all_uses_each_half_after_an_hour(ages: list[int]) -> None:
    heat = Heat()
    for age in sorted(ages, reverse=True):
        heat.used([key(1)], NOW - age)
    found = heat.get(key(1))
    assert found is not None
    plain = sum(2.0 ** (-age / HOUR) for age in ages)
    assert 2.0 ** (found.heat - NOW / HOUR) == pytest.approx(plain, rel=1e-6)
    assert (found.last, found.uses) == (NOW - min(ages), len(ages) - 1)


def test_an_old_favourite_is_colder_than_what_is_used_now() -> None:
    heat = Heat()
    for _ in range(1000):
        heat.used([key(1)], NOW - 11 * HOUR)
        heat.used([key(2)], NOW - 9 * HOUR)
    heat.used([key(3)], NOW)
    found = [heat.get(key(number)) for number in (1, 3, 2)]
    assert [each.heat for each in found if each] == sorted(each.heat for each in found if each)


def test_a_file_of_heat_brings_back_all_that_is_known() -> None:
    draw, heat, again = random.Random(1), Heat(), Heat()
    for age in range(500, 0, -1):
        heat.used([key(draw.randrange(60))], NOW - age * HOUR // 10)
    again.load(heat.dump())
    assert len(again) == 60
    assert all(again.get(key(number)) == heat.get(key(number)) for number in range(60))


def test_a_file_of_heat_names_the_hottest_only_and_memory_is_bounded() -> None:
    heat, again = Heat(most=10), Heat(most=10)
    for number in range(1000):
        heat.used([key(number)], NOW + number)
        assert len(heat) <= 20
    again.load(heat.dump())
    assert [number for number in range(1000) if again.get(key(number))] == list(range(990, 1000))


def test_every_damaged_byte_of_a_file_of_heat_is_noticed() -> None:
    heat, again = Heat(), Heat()
    heat.used([key(1), key(2)], NOW)
    data = heat.dump()
    for at in range(len(data)):
        broken = bytearray(data)
        broken[at] ^= 1
        with pytest.raises(ValueError, match="heat"):
            again.load(bytes(broken))
        with pytest.raises(ValueError, match="heat"):
            again.load(data[:at])
    assert len(again) == 0


@given(st.integers(0, 10_000))
def test_parents_come_before_their_children_and_else_the_hottest_first(seed: int) -> None:
    draw = random.Random(seed)
    chunks: dict[BlockKey, tuple[BlockKey | None, int, float]] = {}
    depth = {key(999): -1}
    for number in range(20):
        parent = draw.choice(list(depth))
        depth[key(number)] = depth[parent] + 1
        if draw.random() < 0.85:
            chunks[key(number)] = (parent, depth[key(number)], math.floor(10 * draw.random()))
    order = hottest_first(chunks)

    def whole(at: BlockKey) -> bool:
        return at == key(999) or (at in chunks and whole(chunks[at][0] or key(0)))

    def hot(at: BlockKey) -> float:
        """Its own heat, or that of what continues it."""
        below = [hot(k) for k, (parent, _, _) in chunks.items() if parent == at]
        return max([chunks[at][2], *below])

    assert set(order) == {at for at in chunks if whole(at)}
    places = {at: place for place, at in enumerate(order)}
    assert all(chunks[at][0] == key(999) or places[chunks[at][0]] < places[at] for at in order)  # type: ignore[index]
    assert [hot(at) for at in order] == sorted((hot(at) for at in order), reverse=True)
