"""Inputs of calls that were cut."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jiter import from_json

from headstart.dialects.anthropic.cut_input import whole_input

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def read(arguments: str) -> Any:
    return msgspec.json.decode(whole_input(arguments))


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.data())
def test_what_is_left_of_a_cut_input_is_what_the_sdk_makes_of_the_deltas(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])))
    cut = text[: data.draw(st.integers(1, len(text)))]
    assert read(cut) == from_json(cut.encode(), partial_mode=True)


def test_a_whole_input_stays_as_it_was_written() -> None:
    assert bytes(whole_input('{"a":1,  "b" : [ ] }')) == b'{"a":1,  "b" : [ ] }'


@pytest.mark.parametrize("arguments", ["", "[1, 2", "tru", '{"a": tru, "b": 1', "}"])
def test_an_input_is_always_an_object(arguments: str) -> None:
    assert read(arguments) == {}
