"""Where the parts of a conversation end, in characters and in tokens."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.text.codec import Codec
from headstart.text.places import ends

LETTERS = st.sampled_from(
    string.ascii_letters + string.digits + string.punctuation + " \n\tßé東京🙂"
)
"""The default model's tokenizer drops the bytes of stranger ones."""
TURNS = st.lists(
    st.text(alphabet="ab \nuserß東<|", min_size=1, max_size=12), min_size=1, max_size=6
)


def chatml(contents: list[str]) -> str:
    return "".join(f"<|im_start|>user\n{text}<|im_end|>\n" for text in contents)


def test_every_part_ends_where_its_text_does() -> None:
    prompt = chatml(["one", "two", "two"])
    first, second, third = ends(prompt, [("one",), ("two",), ("two",)])
    assert (prompt[:first][-3:], prompt[:second][-3:]) == ("one", "two")
    assert third == prompt.rindex("two") + 3


def test_a_template_with_another_order_gives_both_parts_the_later_end() -> None:
    prompt = "<system>rules</system><tools>search</tools>"
    assert ends(prompt, [("search",), ("rules",)]) == [prompt.index("search") + 6] * 2


def test_what_is_not_shown_ends_where_the_part_before_it_does() -> None:
    prompt = chatml(["one", "three"])
    first, hidden, empty, third = ends(prompt, [("one",), ("two",), ("",), ("three",)])
    assert first == hidden == empty < third


@given(TURNS, TURNS, TURNS)
def test_ends_never_fall_and_depend_on_what_comes_before_alone(
    shared: list[str], some: list[str], others: list[str]
) -> None:
    one, two = (
        ends(chatml(each), [(t,) for t in each]) for each in (shared + some, shared + others)
    )
    assert one == sorted(one)
    # A text of blanks alone isn't sought; any other is found in the part that both have.
    assert one[: len(shared)] == two[: len(shared)]


@pytest.mark.parametrize("scope", ["known", "unknown"])
@settings(deadline=None)
@given(st.lists(st.text(alphabet=LETTERS, max_size=40), max_size=8), st.data())
def test_tokens_through_a_place_are_those_that_lie_wholly_before_it(
    default_codec: Codec, scope: str, contents: list[str], data: st.DataObject
) -> None:
    text = chatml(contents)
    ids = default_codec.encode(text, "known")
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=5))
    found = default_codec.tokens_through(text, ids, places, scope)
    lengths = [len(default_codec.token_bytes(token)) for token in ids]
    for place, count in zip(places, found, strict=True):
        room = len(text[:place].encode())
        assert sum(lengths[:count]) <= room
        assert count == len(ids) or sum(lengths[: count + 1]) > room
