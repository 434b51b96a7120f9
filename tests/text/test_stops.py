from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.text.stops import StopMatcher

# Few letters, so that stop strings overlap each other and the text often.
LETTERS = st.text("abc", max_size=24)
STOPS = st.lists(st.text("abc", min_size=1, max_size=5), max_size=4)


def cut_before_first_stop(text: str, stops: list[str]) -> tuple[str, bool]:
    """The oracle: read character by character until some stop string is complete."""
    for end in range(1, len(text) + 1):
        starts = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if starts:
            return text[: min(starts)], True
    return text, False


def split(text: str, cuts: list[int]) -> list[str]:
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(borders)]


@given(LETTERS, STOPS, st.lists(st.integers(0, 24), max_size=6))
def test_any_chunking_gives_what_reading_single_characters_gives(
    text: str, stops: list[str], cuts: list[int]
) -> None:
    matcher = StopMatcher(stops)
    fed = [matcher.feed(chunk) for chunk in split(text, cuts)]
    emitted = "".join(piece for piece, _ in fed) + matcher.flush()
    assert (emitted, fed[-1][1]) == cut_before_first_stop(text, stops)


@given(LETTERS, STOPS)
def test_only_the_beginning_of_a_stop_string_is_held_back(text: str, stops: list[str]) -> None:
    matcher = StopMatcher(stops)
    emitted = ""
    for end in range(1, len(text) + 1):
        piece, stopped = matcher.feed(text[end - 1])
        if stopped:
            return
        emitted += piece
        held = text[len(emitted) : end]
        assert held == "" or any(stop.startswith(held) and stop != held for stop in stops)


def test_a_stop_string_across_chunks_is_not_emitted() -> None:
    matcher = StopMatcher(["</end>"])
    assert matcher.feed("answer</e") == ("answer", False)
    assert matcher.feed("nd>more") == ("", True)
    assert matcher.feed("still more") == ("", True)
    assert matcher.flush() == ""


def test_without_stop_strings_everything_passes_at_once() -> None:
    assert StopMatcher([]).feed("text") == ("text", False)


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(ValueError, match="empty stop string"):
        StopMatcher(["a", ""])
