"""Tokenizers out of GGUF files, against transformers and llama.cpp's published rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from headstart.model.gguf_file import read_gguf
from headstart.text.chat import Conversation, Message
from headstart.text.codec import Codec
from headstart.text.errors import TokenizerError
from headstart.text.pieces import byte_alphabet

SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
WriteGguf = Callable[..., Path]


@pytest.fixture(scope="session")
def reference(default_model_path: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(
        default_model_path.parent, gguf_file=default_model_path.name
    )


@pytest.mark.slow
@SHARED
@given(text=st.text(st.characters(exclude_categories=["Cs", "Nd", "Nl", "No"]), max_size=60))
def test_default_model_encodes_as_transformers_does(
    default_codec: Codec, reference: Any, text: str
) -> None:
    """Without digits: transformers ignores `smollm`'s rule for them (see the next test)."""
    assert default_codec.encode(text) == reference.encode(text, add_special_tokens=False)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("in 2024", ["in", "Ġ", "2", "0", "2", "4"]),
        ("a  7", ["a", "ĠĠ", "7"]),
        ("x12y", ["x", "1", "2", "y"]),
        ("it's", ["it", "'s"]),
    ],
)
def test_smollm_cuts_digits_one_by_one_and_apart_from_blanks(
    default_codec: Codec, text: str, pieces: list[str]
) -> None:
    """SmolLM2's tokenizer.json: Digits(individual_digits), then GPT-2's byte level."""
    tokenizer = Tokenizer.from_str(default_codec.tokenizer_json)
    assert tokenizer.encode(text).tokens == pieces


@pytest.mark.slow
def test_default_model_chat_is_tokenised_as_transformers_does(
    default_codec: Codec, reference: Any
) -> None:
    turns = [("system", "Be brief."), ("user", "Say hi, 你好!"), ("assistant", "hi"), ("user", "?")]
    conversation = Conversation(tuple(Message(role, text) for role, text in turns))  # type: ignore[arg-type]
    expected = reference.apply_chat_template(
        [{"role": role, "content": text} for role, text in turns],
        add_generation_prompt=True,
        return_dict=False,
    )
    assert default_codec.encode_chat(conversation) == expected


def test_default_model_declares_its_special_tokens(default_codec: Codec) -> None:
    assert default_codec.vocab_size == 49152
    assert default_codec.bos_id == 1
    assert default_codec.eos_ids[0] == 2
    assert default_codec.encode_prompt("hi") == default_codec.encode("hi")
    assert default_codec.template_knows_tools is False
    assert default_codec.tool_format.name == "hermes"


def test_path_reader_and_metadata_give_the_same_tokenizer(write_gguf: WriteGguf) -> None:
    path = write_gguf()
    codecs = [
        Codec.from_gguf(path),
        Codec.from_gguf(gguf.GGUFReader(path)),
        Codec.from_gguf(read_gguf(path).metadata),
    ]
    assert len({codec.tokenizer_json for codec in codecs}) == 1


BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
SPM_PIECES = ["▁", "h", "i", "e", "l", "o", "▁h", "▁hi", "el", "lo", "ell", "▁hell", "▁hello", "▁▁"]
SPM_TOKENS = ["<unk>", "<s>", "</s>", *BYTE_TOKENS, *SPM_PIECES]
SPM = {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": SPM_TOKENS,
    "tokenizer.ggml.scores": [0.0] * 259 + [-float(rank) for rank in range(len(SPM_PIECES))],
    "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * len(SPM_PIECES)],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.unknown_token_id": 0,
}


@pytest.fixture
def write_gguf(tmp_path: Path) -> WriteGguf:
    """Writes a vocabulary-only GGUF: a tiny SentencePiece one, `changes` on top, None removes."""

    def write(changes: dict[str, Any] | None = None) -> Path:
        path = tmp_path / "tiny.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        for key, value in {**SPM, **(changes or {})}.items():
            match value:
                case None:
                    pass
                case bool():
                    writer.add_bool(key, value)
                case str():
                    writer.add_string(key, value)
                case int():
                    writer.add_uint32(key, value)
                case list():
                    writer.add_array(key, value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return write


@pytest.mark.parametrize("text", ["hello", "hi hello", "hi  hi", "höhö 🙂", "hell o", "oleh"])
def test_sentencepiece_vocabularies_encode_as_transformers_does(
    write_gguf: WriteGguf, text: str
) -> None:
    from transformers import AutoTokenizer

    path = write_gguf()
    oracle = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    codec = Codec.from_gguf(path)
    assert codec.encode(text) == oracle.encode(text, add_special_tokens=False)
    assert codec.encode_prompt(text) == oracle.encode(text)
    assert codec.decode(codec.encode(text)) == text


def test_sentencepiece_without_a_space_prefix_keeps_text_as_it_is(write_gguf: WriteGguf) -> None:
    codec = Codec.from_gguf(write_gguf({"tokenizer.ggml.add_space_prefix": False}))
    assert [codec.token_bytes(id_) for id_ in codec.encode("hi")] == [b"h", b"i"]
    assert codec.decode(codec.encode(" hi")) == " hi"


def test_an_explicit_add_bos_token_wins(write_gguf: WriteGguf) -> None:
    codec = Codec.from_gguf(write_gguf({"tokenizer.ggml.add_bos_token": False}))
    assert codec.encode_prompt("hi") == codec.encode("hi")


def test_a_prompt_that_has_its_own_bos_gets_no_second_one(write_gguf: WriteGguf) -> None:
    codec = Codec.from_gguf(write_gguf())
    assert codec.encode_prompt("<s>hi").count(1) == 1


def test_end_of_turn_tokens_are_all_collected(write_gguf: WriteGguf) -> None:
    tokens = [*SPM_TOKENS, "<|eot_id|>", "<|im_end|>"]
    codec = Codec.from_gguf(
        write_gguf(
            {
                "tokenizer.ggml.tokens": tokens,
                "tokenizer.ggml.scores": [*SPM["tokenizer.ggml.scores"], 0.0, 0.0],  # type: ignore[misc]
                "tokenizer.ggml.token_type": [*SPM["tokenizer.ggml.token_type"], 3, 3],  # type: ignore[misc]
                "tokenizer.ggml.eot_token_id": len(SPM_TOKENS),
            }
        )
    )
    assert codec.eos_ids == (2, len(SPM_TOKENS), len(SPM_TOKENS) + 1)


def test_user_defined_tokens_are_found_whole_but_are_text(write_gguf: WriteGguf) -> None:
    codec = Codec.from_gguf(
        write_gguf(
            {
                "tokenizer.ggml.tokens": [*SPM_TOKENS, "<think>"],
                "tokenizer.ggml.scores": [*SPM["tokenizer.ggml.scores"], 0.0],  # type: ignore[misc]
                "tokenizer.ggml.token_type": [*SPM["tokenizer.ggml.token_type"], 4],  # type: ignore[misc]
            }
        )
    )
    ids = codec.encode("<think>hi")
    assert ids[0] == len(SPM_TOKENS)
    assert codec.decode(ids).startswith("<think>")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizer.ggml.model": "t5"}, "tokenizer model 't5' is not supported"),
        ({"tokenizer.ggml.model": None}, "tokenizer model None"),
        ({"tokenizer.ggml.tokens": None}, "has no tokenizer.ggml.tokens"),
        ({"tokenizer.ggml.scores": [0.0]}, "273 tokens but 1 scores"),
        ({"tokenizer.ggml.token_type": [1]}, "273 tokens but 1 token types"),
        ({"tokenizer.ggml.eos_token_id": 9999}, "eos_token_id 9999 is outside"),
        ({"tokenizer.ggml.eos_token_id": "two"}, "eos_token_id is no int: 'two'"),
        (
            {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "klingon"},
            "'klingon' is not supp",
        ),
        (
            {
                "tokenizer.ggml.model": "gpt2",
                "tokenizer.ggml.pre": "gpt-2",
                "tokenizer.ggml.merges": ["q x"],
            },
            "merges do not fit",
        ),
        ({"tokenizer.ggml.tokens": ["a", "a"], "tokenizer.ggml.scores": [0.0, 0.0]}, "twice"),
    ],
)
def test_what_is_wrong_in_a_gguf_is_named(
    write_gguf: WriteGguf, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TokenizerError, match=message):
        Codec.from_gguf(write_gguf(changes))


@pytest.mark.parametrize("size", [0, 3, 30, 500])
def test_a_truncated_gguf_is_refused_by_name(write_gguf: WriteGguf, size: int) -> None:
    path = write_gguf()
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(TokenizerError, match=r"tiny\.gguf is not a whole GGUF file"):
        Codec.from_gguf(path)


def test_a_foreign_or_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.gguf"
    foreign.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(TokenizerError, match="is not a whole GGUF file"):
        Codec.from_gguf(foreign)
    with pytest.raises(TokenizerError, match="does not exist"):
        Codec.from_gguf(tmp_path / "absent.gguf")


# Splits as transformers' own tokenizers of the families make them.
SPLIT_TEXT = "I'LL pay 12345 €  in\r\n\r\n  HTMLParser/x 東京2024年 don't!! \tend  "


@pytest.mark.parametrize("name", ["gpt-2", "qwen2", "llama-bpe", "tekken"])
def test_text_is_cut_as_transformers_cuts_it_for_the_same_name(
    write_gguf: WriteGguf, name: str
) -> None:
    from transformers import AutoTokenizer

    alphabet = list(byte_alphabet())
    pair = (alphabet[0], alphabet[1])
    path = write_gguf(
        {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": name,
            "tokenizer.ggml.tokens": [*alphabet, "".join(pair), "<|end|>"],
            "tokenizer.ggml.scores": None,
            "tokenizer.ggml.token_type": [*[1] * 257, 3],
            "tokenizer.ggml.merges": [" ".join(pair)],
            "tokenizer.ggml.bos_token_id": 257,
            "tokenizer.ggml.eos_token_id": 257,
            "tokenizer.ggml.unknown_token_id": 257,
        }
    )
    oracle = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).backend_tokenizer
    ours = Tokenizer.from_str(Codec.from_gguf(path).tokenizer_json)
    expected = oracle.pre_tokenizer.pre_tokenize_str(SPLIT_TEXT)
    assert ours.pre_tokenizer.pre_tokenize_str(SPLIT_TEXT) == expected
