import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headstart.model.load import LoadedModel
from headstart.server.run import run
from headstart.server.shared import SharedPrefixesError, read_shared, tokenised
from headstart.settings import Settings
from headstart.text.chat import Conversation

Declare = Callable[..., str]


@pytest.fixture
def declare(tmp_path: Path) -> Declare:
    """`declare(*lines) -> file`; what is no text becomes JSON."""

    def write(*lines: Any) -> str:
        file = tmp_path / "shared.jsonl"
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        file.write_text("\n".join(texts))
        return str(file)

    return write


def test_without_a_file_nothing_is_shared() -> None:
    assert read_shared(None) == []


def test_each_line_is_a_prefix_in_one_of_three_forms(declare: Declare) -> None:
    message = {"role": "system", "content": "Be brief."}
    file = declare({"messages": [message]}, "", {"prompt": "a"}, {"tokens": [1, 2]})
    messages, text, tokens = (each.prompt.prompt for each in read_shared(file))
    assert isinstance(messages, Conversation)
    assert (text, tokens) == ("a", (1, 2))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not valid JSON"),
        ({}, "Exactly one of"),
        ({"prompt": "a", "tokens": [1]}, "Exactly one of"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, "role"),
        ({"tokens": [-1]}, "tokens"),
        ({"prompt": "a", "model": "sql"}, "'model' has no place here"),
        ({"prompt": "a", "cache_salt": "s"}, "'cache_salt' has no place here"),
    ],
)
def test_a_line_at_fault_is_named_before_anything_is_loaded(
    declare: Declare, capsys: pytest.CaptureFixture[str], line: Any, complaint: str
) -> None:
    file = declare({"prompt": "fine"}, line)
    with pytest.raises(SharedPrefixesError, match="line 2") as caught:
        read_shared(file)
    assert complaint in str(caught.value)
    assert run(Settings(model="/nowhere", shared_prefixes=file)) == 1
    assert "line 2" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("lines", [(), ("", "  ")])
def test_a_file_that_declares_nothing_is_refused(declare: Declare, lines: tuple[str, ...]) -> None:
    with pytest.raises(SharedPrefixesError, match="declares no prefix"):
        read_shared(declare(*lines))


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SharedPrefixesError, match="Can't read"):
        read_shared(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"tokens": [5] * 15}, r"line 1: only the first 15 tokens"),
        ({"tokens": [5] * 15 + [10**6]}, r"line 1: 1000000 is no token id"),
        ({"prompt": "a"}, r"line 1: only the first"),
    ],
)
def test_what_the_model_can_not_share_is_told_by_line(
    declare: Declare, tiny: LoadedModel, line: Any, complaint: str
) -> None:
    declared = read_shared(declare(line))
    with pytest.raises(SharedPrefixesError, match=complaint):
        tokenised(declared, tiny.codec, 16)


def test_token_ids_are_taken_as_they_are(declare: Declare, tiny: LoadedModel) -> None:
    (ids,) = tokenised(read_shared(declare({"tokens": [5] * 20})), tiny.codec, 16)
    assert list(ids) == [5] * 20
