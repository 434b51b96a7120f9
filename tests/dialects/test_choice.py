"""Text, calls and finish reasons of one choice."""

import re
from collections.abc import Sequence

import pytest

from headstart.dialects.choice import ChoiceAssembler, call_id
from headstart.dialects.deltas import CallArguments, CallStart, Delta, Finish, TextDelta
from headstart.text import tool_events
from headstart.text.tool_events import Event, Text


class Scripted:
    """Stands for a tool format: what it reports is the test's to choose."""

    def __init__(
        self, *pieces: Sequence[Event], last: Sequence[Event] = (), cut: Sequence[Event] = ()
    ) -> None:
        self._pieces = iter(pieces)
        self._last = last
        self._cut = cut

    def feed(self, text: str) -> list[Event]:
        return list(next(self._pieces, ()))

    def finish(self, *, cut: bool) -> list[Event]:
        return list(self._cut if cut else self._last)


def start(position: int, name: str = "f") -> Event:
    return tool_events.CallStart(position, name)


def arguments(position: int, fragment: str = "{}") -> Event:
    return tool_events.CallArguments(position, fragment)


def run(parser: Scripted, reason: str = "stop", *, parallel: bool = True) -> list[Delta]:
    return ChoiceAssembler("r", 0, parser, parallel=parallel).feed("…", reason)


def called(position: int, name: str = "f") -> CallStart:
    return CallStart(position, call_id("r", 0, position), name)


def test_without_a_parser_all_text_is_content() -> None:
    choice = ChoiceAssembler("r", 0)
    assert choice.feed("<tool_call>", None) == [TextDelta("<tool_call>")]
    assert choice.feed("", None) == []
    assert choice.feed(" ", "stop") == [TextDelta(" "), Finish("stop")]


def test_a_call_turns_stop_into_tool_calls() -> None:
    assert run(Scripted([start(0), arguments(0)])) == [
        called(0),
        CallArguments(0, "{}"),
        Finish("tool_calls"),
    ]


def test_an_answer_cut_by_its_length_says_so_also_after_a_call() -> None:
    assert run(Scripted([start(0)]), "length")[-1] == Finish("length")


def test_a_call_cut_by_its_length_is_told_as_far_as_it_goes() -> None:
    parser = Scripted(last=[Text("{")], cut=[start(0), arguments(0, '{"a')])
    assert run(parser, "length") == [called(0), CallArguments(0, '{"a'), Finish("length")]


def test_a_call_settled_at_the_very_end_still_counts() -> None:
    assert run(Scripted(last=[start(0), arguments(0)]))[-1] == Finish("tool_calls")


def test_blank_text_around_calls_is_no_content() -> None:
    parser = Scripted([Text("\n"), start(0), Text("\n"), start(1), Text("\n\n")])
    assert run(parser) == [called(0), called(1), Finish("tool_calls")]


def test_blank_text_without_a_call_is_content() -> None:
    assert run(Scripted([Text("\n")])) == [TextDelta("\n"), Finish("stop")]


def test_blank_text_before_other_text_is_kept_in_place() -> None:
    choice = ChoiceAssembler("r", 0, Scripted([Text("\n")], [Text("a")]))
    assert choice.feed("…", None) == []
    assert choice.feed("…", None) == [TextDelta("\na")]


def test_without_parallel_calls_only_the_first_one_is_told() -> None:
    parser = Scripted([start(0), arguments(0), Text("x"), start(1), arguments(1)])
    assert run(parser, parallel=False) == [
        called(0),
        CallArguments(0, "{}"),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize("position", range(20))
def test_call_ids_are_nine_alphanumerics(position: int) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", call_id("chatcmpl-1", 0, position))


def test_call_ids_differ_by_response_choice_and_position() -> None:
    ids = {call_id(r, c, p) for r in ("a", "b") for c in range(5) for p in range(5)}
    assert len(ids) == 50
