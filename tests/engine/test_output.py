"""From drawn tokens to chunks: the joined text is the right text, however its tokens cut it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.engine.api import Chunk
from headstart.engine.output import Output
from headstart.model.params import SamplingParams
from headstart.model.sampling import Sampled
from headstart.text.codec import Codec

PROMPT = (1, 50)


@pytest.fixture(scope="module")
def codec(tiny_checkpoint: Callable[..., Path]) -> Codec:
    return Codec.from_directory(tiny_checkpoint("llama"))


def output_of(codec: Codec, *, index: int = 0, max_tokens: int = 1000, **asked: Any) -> Output:
    return Output(index, SamplingParams(max_tokens=max_tokens, **asked), codec, PROMPT)


def bytewise(codec: Codec, text: str) -> list[int]:
    """One token a byte: every way of cutting a character that a tokenizer may choose."""
    single = {codec.token_bytes(id_): id_ for id_ in range(codec.vocab_size)}
    return [single[bytes([byte])] for byte in text.encode()]


def fed(output: Output, ids: Sequence[int], *, grammar_ends_at: int | None = None) -> list[Chunk]:
    """Chunks up to the one with a reason to finish, as the engine feeds them."""
    chunks: list[Chunk] = []
    for at, id_ in enumerate(ids):
        chunks.append(output.feed(Sampled(id_), grammar_finished=at == grammar_ends_at))
        if chunks[-1].finish_reason is not None:
            break
    return chunks


def text(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def test_every_chunk_is_one_token_and_carries_its_choices_number(codec: Codec) -> None:
    chunks = fed(output_of(codec, index=3), codec.encode("A cache keeps what was computed."))
    assert {(chunk.index, chunk.tokens, chunk.finish_reason) for chunk in chunks} == {(3, 1, None)}
    assert text(chunks) == "A cache keeps what was computed."


def test_a_character_comes_out_whole_when_its_last_byte_is_there(codec: Codec) -> None:
    chunks = fed(output_of(codec), bytewise(codec, "a🙂é"))
    assert [chunk.text for chunk in chunks] == ["a", "", "", "", "🙂", "", "é"]


def test_the_token_limit_ends_with_length_and_gives_out_what_is_held(codec: Codec) -> None:
    output = output_of(codec, max_tokens=4, stop=("abcdef",))
    chunks = fed(output, bytewise(codec, "xabcdef"))
    assert (text(chunks), len(chunks)) == ("xabc", 4)
    assert chunks[-1].finish_reason == "length"
    assert output.finished


def test_half_a_character_at_the_limit_becomes_a_replacement_character(codec: Codec) -> None:
    chunks = fed(output_of(codec, max_tokens=3), bytewise(codec, "a🙂"))
    assert (text(chunks), chunks[-1].finish_reason) == ("a\N{REPLACEMENT CHARACTER}", "length")


@pytest.mark.parametrize("max_tokens", [4, 1000])
def test_an_end_token_ends_with_stop_has_no_text_and_counts_as_a_token(
    codec: Codec, max_tokens: int
) -> None:
    for end in codec.eos_ids:
        output = output_of(codec, max_tokens=max_tokens, stop=("abX",))
        chunks = fed(output, [*bytewise(codec, "1ab"), end])
        assert (text(chunks), chunks[-1].finish_reason) == ("1ab", "stop")
        assert sum(chunk.tokens for chunk in chunks) == 4


def test_ignore_eos_goes_on_but_heeds_the_requests_own_end_tokens(codec: Codec) -> None:
    (own,) = bytewise(codec, "!")
    output = output_of(codec, ignore_eos=True, stop_token_ids=(own,))
    chunks = fed(output, [*bytewise(codec, "a"), codec.eos_ids[0], *bytewise(codec, "b!c")])
    assert (text(chunks), len(chunks), chunks[-1].finish_reason) == ("ab", 4, "stop")


def test_the_end_of_the_grammar_ends_with_stop_and_keeps_its_last_token(codec: Codec) -> None:
    chunks = fed(output_of(codec), bytewise(codec, '{"a":1}x'), grammar_ends_at=6)
    assert (text(chunks), chunks[-1].finish_reason) == ('{"a":1}', "stop")


def test_a_stop_string_cuts_before_its_first_character_across_tokens(codec: Codec) -> None:
    output = output_of(codec, stop=("\nUser:", "###"))
    chunks = fed(output, bytewise(codec, "Hi\n# \nUser: and more"))
    assert (text(chunks), chunks[-1].finish_reason) == ("Hi\n# ", "stop")
    assert len(chunks) == len("Hi\n# \nUser:")


def test_a_stop_string_within_one_token_cuts_that_token(codec: Codec) -> None:
    long = next(id_ for id_ in range(codec.vocab_size) if codec.token_bytes(id_) == b" question")
    chunks = fed(output_of(codec, stop=("est",)), [*codec.encode("The"), long])
    assert (text(chunks), chunks[-1].finish_reason) == ("The qu", "stop")


def test_a_stop_string_that_the_limits_token_completes_is_still_a_stop(codec: Codec) -> None:
    output = output_of(codec, max_tokens=4, stop=("cd",))
    chunks = fed(output, bytewise(codec, "abcdef"))
    assert (text(chunks), chunks[-1].finish_reason) == ("ab", "stop")


@settings(max_examples=examples(60))
@given(
    st.text(alphabet="ab🙂é", max_size=14),
    st.lists(st.text(alphabet="ab🙂é", min_size=1, max_size=3), max_size=3),
)
def test_joined_chunks_are_the_text_before_the_first_stop_string(
    codec: Codec, whole: str, stops: list[str]
) -> None:
    """The oracle reads the text one character at a time and looks for a stop string at its end."""
    expected, reason = whole, None
    for length in range(1, len(whole) + 1):
        found = [stop for stop in stops if whole[:length].endswith(stop)]
        if found:
            expected, reason = whole[: length - max(map(len, found))], "stop"
            break
    output = output_of(codec, stop=tuple(stops))
    chunks = fed(output, bytewise(codec, whole))
    if reason is None:
        chunks.append(output.feed(Sampled(codec.eos_ids[0]), grammar_finished=False))
    assert (text(chunks), chunks[-1].finish_reason) == (expected, "stop")
    for chunk in chunks:
        chunk.text.encode()  # raises for half a surrogate pair
        assert "\N{REPLACEMENT CHARACTER}" not in chunk.text


def test_a_failure_gives_out_what_was_held_back_and_has_no_token(codec: Codec) -> None:
    output = output_of(codec, index=2, stop=("bcd",))
    chunks = fed(output, bytewise(codec, "abc"))
    assert text(chunks) == "a"
    assert output.fail("abort") == Chunk(2, "bc", (), "abort", tokens=0)
    assert output.finished


def test_log_probabilities_carry_the_exact_bytes_of_their_tokens(codec: Codec) -> None:
    first, second = bytewise(codec, "é")
    output = output_of(codec, logprobs=2)
    chunk = output.feed(
        Sampled(first, -0.5, ((second, -0.25), (first, -0.5))), grammar_finished=False
    )
    assert chunk.text == ""
    (token,) = chunk.logprobs
    assert (token.token_id, token.data, token.logprob) == (first, "é".encode()[:1], -0.5)
    assert [(top.token_id, top.data, top.logprob) for top in token.top] == [
        (second, "é".encode()[1:], -0.25),
        (first, "é".encode()[:1], -0.5),
    ]
