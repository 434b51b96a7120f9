"""From a place in a rendered prompt to the message it belongs to."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.conversations import WEATHER

from headstart.text.chat import Conversation, Message
from headstart.text.locate import message_at
from headstart.text.template import ChatTemplate

CONTENTS = ("Be brief.", "What is a cache?", "A memory.", "What is a cache?")
ROLES = ("system", "user", "assistant", "user")


def chatml(contents: tuple[str, ...]) -> str:
    turns = zip(ROLES, contents, strict=False)
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|bot|>"


PROMPT = chatml(CONTENTS)


@pytest.mark.parametrize("index", range(len(CONTENTS)))
def test_the_first_and_the_last_character_of_a_content_are_its_messages(index: int) -> None:
    end = PROMPT.index("<|im_end|>", len(chatml(CONTENTS[:index])) - len("<|bot|>"))
    assert message_at(PROMPT, CONTENTS, end - len(CONTENTS[index])) == index
    assert message_at(PROMPT, CONTENTS, end - 1) == index


def test_what_the_template_puts_before_a_message_is_the_messages() -> None:
    assert message_at(PROMPT, CONTENTS, 0) == 0
    assert message_at(PROMPT, CONTENTS, PROMPT.index("user")) == 1


def test_what_follows_the_last_message_is_nobodys() -> None:
    assert message_at(PROMPT, CONTENTS, PROMPT.index("<|bot|>")) is None
    assert message_at(PROMPT, CONTENTS, len(PROMPT)) is None


def test_equal_messages_are_told_apart_by_their_order() -> None:
    first, second = PROMPT.index(CONTENTS[1]), PROMPT.rindex(CONTENTS[3])
    assert message_at(PROMPT, CONTENTS, first) == 1
    assert message_at(PROMPT, CONTENTS, second) == 3


def test_stab_14_a_last_line_that_changes_is_the_systems_though_tools_stand_behind_it() -> None:
    """The tools go with it: whoever asks is told the message, and (`?text=1`) the line."""
    source = (Path(__file__).parent / "templates" / "qwen.jinja").read_text()
    template = ChatTemplate({"default": source}, {})
    texts = [f"Be brief.\nIt is {day}." for day in ("Monday", "Tuesday")]
    one, other = (
        template.render(Conversation((Message("system", text), Message("user", "?")), (WEATHER,)))
        for text in texts
    )
    place = next(at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert other[:place].endswith("It is ")
    assert "get_weather" in other[place:]
    assert message_at(other, (texts[1], "?"), place) == 0


def test_a_template_that_trims_is_followed() -> None:
    padded = tuple(f" \n{text}  " for text in CONTENTS)
    assert message_at(PROMPT, padded, PROMPT.index("A memory.") + 3) == 2


@pytest.mark.parametrize("silent", ["", "  \n", "Never shown."])
def test_a_message_that_is_not_shown_is_passed_over(silent: str) -> None:
    contents = (CONTENTS[0], silent, CONTENTS[1])
    prompt = chatml((CONTENTS[0], CONTENTS[1]))
    assert message_at(prompt, contents, prompt.index("Be")) == 0
    assert message_at(prompt, contents, prompt.index("What")) == 2


@pytest.mark.parametrize("letter", ["s", "a", "t", "im", "tar"])
def test_a_short_message_is_not_found_in_the_words_of_the_template(letter: str) -> None:
    contents = (letter, "Which?", letter)
    prompt = chatml(contents)
    first = prompt.index(f"\n{letter}<") + 1
    assert message_at(prompt, contents, first) == 0
    assert message_at(prompt, contents, first + len(letter)) == 1
    assert message_at(prompt, contents, prompt.rindex(f"\n{letter}<") + 1) == 2


def test_a_template_that_puts_words_right_beside_a_message_is_followed() -> None:
    assert message_at("beginHellothenByeend", ("Hello", "Bye"), 7) == 0
    assert message_at("beginHellothenByeend", ("Hello", "Bye"), 15) == 1


def test_a_long_run_of_one_letter_is_located_at_once() -> None:
    """Each place in it is within a word; trying them all would take minutes."""
    run = "a" * 1_000_000
    assert message_at(run, (run[: 1 << 19], "b"), 5) == 0
    assert message_at(run, ("a",) * 1000, 999) == 999


def test_without_messages_there_is_none() -> None:
    assert message_at(PROMPT, (), 3) is None


@given(st.lists(st.text("ABC ", min_size=1).filter(str.strip), min_size=1, max_size=6), st.data())
def test_later_places_are_never_in_earlier_messages(texts: list[str], data: st.DataObject) -> None:
    contents = tuple(f"{number} {text}" for number, text in enumerate(texts))
    prompt = "".join(f"[{text}]" for text in contents) + "!"
    one, other = sorted(
        data.draw(st.lists(st.integers(0, len(prompt) - 2), min_size=2, max_size=2))
    )
    first, second = (message_at(prompt, contents, place) for place in (one, other))
    assert second is None or (first is not None and first <= second)


@given(st.lists(st.text("ABC ", max_size=4), min_size=1, max_size=6))
def test_every_character_of_a_content_lies_in_its_message(texts: list[str]) -> None:
    contents = tuple(f"({text})" for text in texts)
    prompt, places = "", []
    for text in contents:
        prompt += "@"
        places.append(range(len(prompt), len(prompt) + len(text)))
        prompt += text
    for index, place in enumerate(places):
        assert {message_at(prompt, contents, at) for at in place} == {index}
