from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from headstart.text.codec import Codec
from headstart.text.detokenizer import Detokenizer
from headstart.text.pieces import Pieces

# SmolLM2's vocabulary has no token for these control characters and for the bytes F1 and F2
# (U+40000 to U+BFFFF, all unassigned): like every library it loses them when encoding.
UNICODE = st.text(
    st.characters(
        exclude_categories=["Cs"],
        max_codepoint=0x3FFFF,
        exclude_characters="\x04\x06\x13\x14\x16\x1d",
    ),
    max_size=40,
)
SPOKEN = st.sampled_from(
    [
        "東京の天気は？",
        "👩‍👩‍👧 family 🙂",
        "naïve café",
        "你好，世界",
        "a\u0301 \U0001f1e8\U0001f1ed",
        "  two  ",
    ]
)
TEXTS = UNICODE | SPOKEN
# The default model's tokenizer is session-wide and never changes.
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="session")
def oracle(default_codec: Codec) -> Tokenizer:
    return Tokenizer.from_str(default_codec.tokenizer_json)


def stream(detokenizer: Detokenizer, ids: Sequence[int]) -> list[str]:
    return [*map(detokenizer.feed, ids), detokenizer.flush()]


def hidden(tokenizer: Tokenizer) -> frozenset[int]:
    return frozenset(Pieces(tokenizer).special_ids.values())


@SHARED
@given(text=TEXTS)
def test_streamed_text_is_the_text_that_was_encoded(default_codec: Codec, text: str) -> None:
    pieces = stream(default_codec.detokenizer(), default_codec.encode(text))
    assert "".join(pieces) == text


@SHARED
@given(ids=st.lists(st.integers(0, 49151), max_size=30))
def test_random_ids_stream_to_what_the_library_decodes_at_once(
    default_codec: Codec, oracle: Tokenizer, ids: list[int]
) -> None:
    assert "".join(stream(default_codec.detokenizer(), ids)) == oracle.decode(ids)
    assert default_codec.decode(ids) == oracle.decode(ids)


def test_random_ids_with_special_tokens_kept_decode_as_in_the_library(
    default_codec: Codec,
) -> None:
    ids = default_codec.encode("<|im_start|>user\nhi<|im_end|>")
    assert default_codec.decode(ids, skip_special=False) == "<|im_start|>user\nhi<|im_end|>"
    assert default_codec.decode(ids) == "user\nhi"


def test_no_piece_holds_half_a_character(default_codec: Codec) -> None:
    ids = default_codec.encode("🙂東👩‍👩‍👧")
    assert any(len(default_codec.token_bytes(id_)) < 3 for id_ in ids)
    assert not any("\ufffd" in piece for piece in stream(default_codec.detokenizer(), ids))


def test_an_unfinished_character_comes_out_as_one_replacement_at_the_end(
    default_codec: Codec,
) -> None:
    ids = default_codec.encode("🙂")
    detokenizer = default_codec.detokenizer()
    assert [detokenizer.feed(id_) for id_ in ids[:-1]] == [""] * (len(ids) - 1)
    assert detokenizer.flush() == "\ufffd"
    assert detokenizer.flush() == ""


def test_bytes_that_can_never_become_a_character_are_not_held_for_ever(
    byte_level: Tokenizer,
) -> None:
    lone = byte_level.token_to_id("Ā")  # the byte 0x00 is spelled so; 0x80 is spelled "Ģ"
    continuation = byte_level.token_to_id("Ģ")
    detokenizer = Detokenizer(Pieces(byte_level), frozenset())
    assert detokenizer.feed(continuation) == "\ufffd"
    assert detokenizer.feed(lone) == "\x00"


def test_special_tokens_yield_nothing_and_do_not_break_a_character(default_codec: Codec) -> None:
    first, *rest = default_codec.encode("🙂")
    end = default_codec.eos_ids[0]
    assert "".join(stream(default_codec.detokenizer(), [first, end, *rest, end])) == "🙂"


@SHARED
@given(text=TEXTS)
def test_sentencepiece_text_streams_to_what_the_library_decodes(
    sentencepiece_like: Tokenizer, text: str
) -> None:
    ids = sentencepiece_like.encode(text, add_special_tokens=False).ids
    detokenizer = Detokenizer(Pieces(sentencepiece_like), hidden(sentencepiece_like))
    assert "".join(stream(detokenizer, ids)) == sentencepiece_like.decode(ids)


@SHARED
@given(text=TEXTS)
def test_after_a_prompt_the_output_is_the_rest_of_the_whole_decoded(
    sentencepiece_like: Tokenizer, text: str
) -> None:
    """The blank before the first word is dropped once per text, not once per answer."""
    prompt = sentencepiece_like.encode("<s>[INST] hi [/INST]", add_special_tokens=False).ids
    ids = sentencepiece_like.encode(text, add_special_tokens=False).ids
    detokenizer = Detokenizer(Pieces(sentencepiece_like), hidden(sentencepiece_like), prompt)
    whole = sentencepiece_like.decode(prompt + ids)
    assert "".join(stream(detokenizer, ids)) == whole[len(sentencepiece_like.decode(prompt)) :]


def test_after_a_prompt_of_special_tokens_only_the_first_blank_is_still_dropped(
    sentencepiece_like: Tokenizer,
) -> None:
    ids = sentencepiece_like.encode("hi", add_special_tokens=False).ids
    bos = sentencepiece_like.token_to_id("<s>")
    pieces, special = Pieces(sentencepiece_like), hidden(sentencepiece_like)
    assert "".join(stream(Detokenizer(pieces, special, [bos]), ids)) == "hi"


@pytest.mark.parametrize(
    ("character", "spelled"), [("é", b"\xc3\xa9"), ("🙂", b"\xf0\x9f\x99\x82")]
)
def test_sentencepiece_byte_tokens_are_single_bytes(
    sentencepiece_like: Tokenizer, character: str, spelled: bytes
) -> None:
    pieces = Pieces(sentencepiece_like)
    ids = [sentencepiece_like.token_to_id(f"<0x{byte:02X}>") for byte in spelled]
    assert [pieces[id_] for id_ in ids] == [bytes([byte]) for byte in spelled]
    streamed = stream(Detokenizer(pieces, frozenset()), ids)
    assert streamed == [""] * (len(ids) - 1) + [character, ""]


@SHARED
@given(text=TEXTS)
def test_token_bytes_joined_are_the_utf8_of_the_text(default_codec: Codec, text: str) -> None:
    ids = default_codec.encode(text)
    assert b"".join(map(default_codec.token_bytes, ids)) == text.encode()


@pytest.mark.parametrize("id_", [-1, 49152, 10**9])
def test_ids_outside_the_vocabulary_have_no_bytes(default_codec: Codec, id_: int) -> None:
    assert default_codec.token_bytes(id_) == b""
    assert default_codec.detokenizer().feed(id_) == ""
