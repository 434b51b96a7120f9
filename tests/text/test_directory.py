"""Hugging Face directories, against transformers' AutoTokenizer."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.text.conversations import NO_SYSTEM, WITH_TOOLS
from tokenizers import AddedToken, Tokenizer, models

from headstart.text.codec import Codec
from headstart.text.errors import TextError, TokenizerError

TEXTS = ["Hello  world", "naïve café 🙂 東京", "<tool_call>x</tool_call>", "<|eot_id|>", " a", ""]


def auto_tokenizer(path: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(path)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["byte_level", "sentencepiece_like"])
def test_directories_encode_and_decode_as_transformers_does(
    request: pytest.FixtureRequest, make_directory: Any, kind: str, text: str
) -> None:
    path = make_directory(request.getfixturevalue(kind))
    codec, oracle = Codec.from_directory(path), auto_tokenizer(path)
    ids = codec.encode(text)
    assert ids == oracle.encode(text, add_special_tokens=False)
    assert codec.encode_prompt(text) == oracle.encode(text)
    assert codec.decode(ids) == oracle.decode(ids, skip_special_tokens=True)
    assert codec.decode(ids, skip_special=False) == oracle.decode(ids)


def test_all_declared_ends_are_collected(byte_level: Tokenizer, make_directory: Any) -> None:
    path = make_directory(byte_level, {"eos_token_id": [2, 1]}, eos_token={"content": "<|im_end|>"})
    (path / "config.json").write_text(json.dumps({"eos_token_id": 3}))
    ends = [byte_level.token_to_id(token) for token in ("<|im_end|>", "<|eot_id|>")]
    assert ends == [4, 1]
    assert Codec.from_directory(path).eos_ids == (4, 2, 1, 3)


def test_tokenizer_json_alone_decides_on_bos(byte_level: Tokenizer, make_directory: Any) -> None:
    path = make_directory(byte_level, add_bos_token=False, bos_token="<|begin_of_text|>")
    codec = Codec.from_directory(path)
    assert codec.bos_id == 0
    assert codec.encode_prompt("Hello") == [0, *codec.encode("Hello")]
    assert codec.encode_prompt("Hello") == auto_tokenizer(path).encode("Hello")


def test_tokens_declared_only_in_the_config_are_added(
    byte_level: Tokenizer, make_directory: Any
) -> None:
    id_ = byte_level.get_vocab_size()
    declared = {str(id_): {"content": "<|extra|>", "special": True}}
    path = make_directory(byte_level, added_tokens_decoder=declared)
    codec = Codec.from_directory(path)
    assert codec.encode("a<|extra|>")[-1] == id_
    assert codec.vocab_size == id_ + 1
    assert codec.decode([id_]) == ""


def test_training_settings_of_the_tokenizer_do_not_cut_or_fill_prompts(
    byte_level: Tokenizer, make_directory: Any
) -> None:
    tokenizer = Tokenizer.from_str(byte_level.to_str())
    expected = tokenizer.encode("A longer text", add_special_tokens=False).ids
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=64)
    assert Codec.from_directory(make_directory(tokenizer)).encode("A longer text") == expected


def test_templates_come_from_every_place_and_files_win(
    byte_level: Tokenizer, make_directory: Any
) -> None:
    named = [
        {"name": "default", "template": "from config"},
        {"name": "tool_use", "template": "{{ tools | length }} tools"},
    ]
    path = make_directory(byte_level, chat_template=named)
    assert Codec.from_directory(path).render(NO_SYSTEM) == "from config"
    assert Codec.from_directory(path).render(WITH_TOOLS) == "2 tools"
    (path / "chat_template.jinja").write_text("from file")
    assert Codec.from_directory(path).render(NO_SYSTEM) == "from file"
    (path / "additional_chat_templates").mkdir()
    (path / "additional_chat_templates" / "tool_use.jinja").write_text("{{ tools is none }}")
    assert Codec.from_directory(path).render(WITH_TOOLS) == "False"


def test_special_tokens_of_the_map_file_reach_the_template(
    byte_level: Tokenizer, make_directory: Any
) -> None:
    path = make_directory(byte_level, chat_template="{{ bos_token }}|{{ unk_token }}")
    special = {"bos_token": {"content": "<|begin_of_text|>"}, "unk_token": "<|eot_id|>"}
    (path / "special_tokens_map.json").write_text(json.dumps(special))
    assert Codec.from_directory(path).render(NO_SYSTEM) == "<|begin_of_text|>|<|eot_id|>"


def test_a_directory_without_a_tokenizer_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json is missing.*save_pretrained"):
        Codec.from_directory(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": 1}'])
def test_a_broken_tokenizer_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json is not a usable tokenizer"):
        Codec.from_directory(tmp_path)


@pytest.mark.parametrize(("content", "message"), [("{", "not valid JSON"), ("[]", "no JSON obj")])
def test_a_broken_config_is_refused_by_name(
    byte_level: Tokenizer, make_directory: Any, content: str, message: str
) -> None:
    path = make_directory(byte_level)
    (path / "tokenizer_config.json").write_text(content)
    with pytest.raises(TokenizerError, match=rf"tokenizer_config\.json.*{message}"):
        Codec.from_directory(path)


def test_a_tokenizer_of_another_kind_is_refused(make_directory: Any) -> None:
    words = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    words.add_special_tokens([AddedToken("[CLS]")])
    with pytest.raises(TokenizerError, match=r"decoder \(none\) is not supported"):
        Codec.from_directory(make_directory(words))


def test_half_a_surrogate_pair_is_refused(byte_level: Tokenizer, make_directory: Any) -> None:
    with pytest.raises(TextError, match="surrogate"):
        Codec.from_directory(make_directory(byte_level)).encode("a\ud83d")
