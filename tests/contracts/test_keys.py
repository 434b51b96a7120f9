from array import array

import pytest
from tests.contracts.build import numbered, prompt

from headstart.contracts.keys import block_keys, first_unit, root, unit_keys

FIRST = root("test")


def test_a_blocks_key_says_everything_before_it() -> None:
    one, other = prompt(*numbered(5)).blocks, prompt(*numbered(5, first=2)).blocks
    keys = block_keys(FIRST, one, {0, 2, 4})
    assert len({*keys.values()}) == 3
    assert block_keys(FIRST, [other[0], *one[1:]], {2})[2] != keys[2]
    assert block_keys(FIRST, [*one[:3], *other[3:]], {2})[2] == keys[2]
    assert block_keys(root("other"), one, {2})[2] != keys[2]


def test_a_key_does_not_depend_on_what_else_is_asked_for() -> None:
    blocks = prompt(*numbered(9)).blocks
    every = block_keys(FIRST, blocks, set(range(9)), {3: [b"x"], 7: [b"y"]})
    for index in range(9):
        assert block_keys(FIRST, blocks, {index}, {3: [b"x"], 7: [b"y"]}) == {index: every[index]}


@pytest.mark.parametrize("start", range(6))
def test_what_counts_from_a_block_on_changes_it_and_all_after_it(start: int) -> None:
    blocks = prompt(*numbered(5)).blocks
    plain = block_keys(FIRST, blocks, set(range(5)))
    salted = block_keys(FIRST, blocks, set(range(5)), {start: [b"salt"]})
    assert [salted[index] != plain[index] for index in range(5)] == [
        index >= start for index in range(5)
    ]


def test_no_blocks_have_no_keys() -> None:
    assert block_keys(FIRST, [], set(), {0: [b"x"]}) == {}


def test_names_are_framed() -> None:
    assert root("a", "bc") != root("ab", "c")


@pytest.mark.parametrize(
    ("length", "minimum", "count"),
    [
        (0, 0, 0),
        (7, 0, 0),
        (8, 0, 1),
        (23, 0, 2),
        (24, 0, 3),
        (24, 17, 1),
        (24, 16, 2),
        (24, 25, 0),
    ],
)
def test_there_is_a_key_for_each_whole_unit_from_the_minimum_on(
    length: int, minimum: int, count: int
) -> None:
    assert len(unit_keys(FIRST, range(length), 8, minimum)) == count


@pytest.mark.parametrize(("minimum", "first"), [(0, 8), (1, 8), (8, 8), (9, 16), (16, 16)])
def test_the_first_unit_is_not_below_the_minimum(minimum: int, first: int) -> None:
    assert first_unit(8, minimum) == first


def test_a_units_key_says_everything_before_it() -> None:
    keys = unit_keys(FIRST, range(40), 8)
    assert len({*keys}) == 5
    assert unit_keys(FIRST, range(24), 8) == keys[:3]
    assert unit_keys(FIRST, range(40), 8, 20) == keys[2:]
    changed = unit_keys(FIRST, [*range(9), 0, *range(10, 40)], 8)
    assert [one == other for one, other in zip(keys, changed, strict=True)] == [True] + [False] * 4


def test_keys_go_on_behind_the_last_one() -> None:
    keys = unit_keys(FIRST, range(43), 8)
    assert keys[:3] + unit_keys(keys[2], range(24, 43), 8) == keys


def test_ids_that_are_packed_already_have_the_same_keys() -> None:
    ids = [*range(100)]
    assert unit_keys(FIRST, array("I", ids), 8) == unit_keys(FIRST, array("q", ids), 8)
    assert unit_keys(FIRST, array("I", ids), 8) == unit_keys(FIRST, ids, 8)
