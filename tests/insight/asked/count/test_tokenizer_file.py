from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from headstart.insight.asked.count import TokenizerFile
from headstart.insight.asked.errors import Unreadable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(WordLevel({"<s>": 0, "a": 1, "b": 2, "?": 3}, unk_token="?"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", pair=None, special_tokens=[("<s>", 0)]
    )
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_ids_are_the_vocabularys_without_special_tokens(path: Path) -> None:
    counter = TokenizerFile(path)
    assert list(counter.ids("a b a")) == [1, 2, 1]
    assert counter.tokens("a b a") == 3
    assert counter.measured


def test_a_lone_surrogate_is_counted(path: Path) -> None:
    assert list(TokenizerFile(path).ids("a \ud800")) == [1, 3]


def test_what_is_no_tokenizer_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(Unreadable, match=r"tokenizer\.json: no tokenizer\.json"):
        TokenizerFile(path)
