"""Where the parts of a conversation end, in characters and in tokens."""

import string
from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import given
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


def test_a_turn_that_says_what_its_header_says_is_found_behind_the_header() -> None:
    contents = ["one", "two", "user", "user", "start"]
    prompt = chatml(contents)
    found = ends(prompt, [(text,) for text in contents])
    assert [prompt[end:].startswith("<|im_end|>") for end in found] == [True] * 5


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


def test_a_part_behind_long_ones_that_are_shown_otherwise_is_found() -> None:
    hidden = ['{"a":"' + f"{number}" * 2000 + '"}' for number in range(4)]
    shown = [text.replace(":", ": ") for text in hidden]
    prompt = "head " * 2000 + chatml(["first", *shown, "last"])
    found = ends(prompt, [("first",), *((text,) for text in hidden), ("last",)])
    assert found == [prompt.index("first") + 5] * 5 + [prompt.index("last") + 4]


@given(st.lists(st.text(alphabet="ab", max_size=3), min_size=1, max_size=40, unique=True))
def test_texts_that_begin_alike_are_told_apart(tails: list[str]) -> None:
    texts = ["x" * 80 + f"{tail}." for tail in tails]
    prompt = chatml(texts)
    assert [prompt[:end].count("im_start") for end in ends(prompt, [(t,) for t in texts])] == [
        *range(1, len(texts) + 1)
    ]


class Counting(str):
    """Counts the characters that are read where it is searched."""

    __slots__ = ("read",)

    def find(self, sub: str, begin: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        at = super().find(sub, begin, end)
        self.read += (min(len(self), len(self) if end is None else end) if at < 0 else at) - begin
        return at


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("tail", ["", "{}" * 40], ids=["short", "long"])
def test_twice_as_many_parts_of_a_text_twice_as_long_are_twice_the_work(
    shown: bool, tail: str
) -> None:
    def work(count: int) -> int:
        texts = [f"number {number} of them{tail}" for number in range(count)]
        prompt = Counting(chatml(texts))
        prompt.read = 0
        ends(prompt, [(text if shown else text.replace(" ", "  "),) for text in texts])
        return prompt.read

    assert work(8000) < 2.5 * work(4000)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("scope", ["known", "unknown"])
def test_places_in_a_long_text_are_measured_alike_in_any_order(
    default_codec: Codec, scope: str, order: int
) -> None:
    text = chatml([f"{number} größer als 東京 {'word ' * 300}" for number in range(5)])
    ids = default_codec.encode(text, "known")
    places = range(0, len(text), 7)[::order]
    sums = [0, *accumulate(len(default_codec.token_bytes(token)) for token in ids)]
    ruler = default_codec.ruler(text, ids, scope)
    assert [ruler.tokens_through(place) for place in places] == [
        bisect_right(sums, len(text[:place].encode())) - 1 for place in places
    ]


@pytest.mark.parametrize("scope", ["known", "unknown"])
@given(st.lists(st.text(alphabet=LETTERS, max_size=40), max_size=8), st.data())
def test_tokens_through_a_place_are_those_that_lie_wholly_before_it(
    default_codec: Codec, scope: str, contents: list[str], data: st.DataObject
) -> None:
    text = chatml(contents)
    ids = default_codec.encode(text, "known")
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=5))
    ruler = default_codec.ruler(text, ids, scope)
    found = [ruler.tokens_through(place) for place in places]
    lengths = [len(default_codec.token_bytes(token)) for token in ids]
    for place, count in zip(places, found, strict=True):
        room = len(text[:place].encode())
        assert sum(lengths[:count]) <= room
        assert count == len(ids) or sum(lengths[: count + 1]) > room


@given(st.text(alphabet=LETTERS, min_size=1, max_size=200))
def test_no_token_stands_for_more_characters_than_the_longest(
    default_codec: Codec, text: str
) -> None:
    padded = text + " " * 200 + "-" * 200
    assert len(default_codec.encode(padded)) * default_codec.longest_token >= len(padded)
