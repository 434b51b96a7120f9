import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.count import Counter, Estimate, TokenizerFile, counter_of
from headstart.insight.asked.count.vocabulary import VOCABULARIES, Vocabulary
from headstart.insight.asked.errors import Unreadable


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_vocabulary_is_there_without_a_connection(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    counter: Counter = Vocabulary(name)
    text = "The cache reads 你好 again, <|endoftext|> and all. \ud800"
    assert counter.measured
    assert counter.tokens(text) == len(counter.ids(text)) > 10


def test_counts_are_those_that_openai_shows_for_o200k() -> None:
    """From OpenAI's cookbook, "How to count tokens with tiktoken": o200k_base."""
    counter = Vocabulary("o200k")
    assert counter.tokens("antidisestablishmentarianism") == 6
    assert counter.tokens("2 + 2 = 4") == 7
    assert counter.tokens("お誕生日おめでとう") == 8


def test_what_is_said_decides_what_is_counted_by(tmp_path: Path) -> None:
    assert isinstance(counter_of(None), Estimate)
    assert isinstance(counter_of(Path("o200k")), Vocabulary)
    with pytest.raises(Unreadable, match="no tokenizer"):
        counter_of(tmp_path / "none.json")
    assert TokenizerFile.measured


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quicktok", None)
    with pytest.raises(Unreadable, match=r"headstart\[tokens\]"):
        Vocabulary("qwen3")
