"""Incremental encoding against the full one, with every kind of tokenizer."""

import functools
import tracemalloc
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.search import examples
from tests.text.growing_texts import PIECES, Step, nasty_text, play, steps
from tests.text.tokenizer_zoo import ZOO, named
from tokenizers import Tokenizer, models

from headstart.text import incremental, seams, shelf
from headstart.text.codec import Codec
from headstart.text.errors import TextError
from headstart.text.incremental import IncrementalEncoder
from headstart.text.seams import Encoded, SeamRules

FIXTURES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=examples(60),
)
TURN = "<|im_start|>user\nThe quick brown fox jumps over the lazy dog, again and again.<|im_end|>\n"


@functools.cache
def zoo(kind: str) -> tuple[Tokenizer, SeamRules]:
    tokenizer = ZOO[kind]()
    return tokenizer, SeamRules(tokenizer)


@dataclass
class Counting:
    """An encoder that knows what it was asked."""

    tokenizer: Tokenizer
    asked: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> Encoded:
        self.asked.append(text)
        return self.tokenizer.encode(text, add_special_tokens=False)

    def full(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def again(self) -> int:
        """Characters encoded since the last call."""
        count = sum(map(len, self.asked))
        self.asked.clear()
        return count


def encoder(
    kind: str = "smollm", max_bytes: int = 1_000_000
) -> tuple[Counting, IncrementalEncoder]:
    tokenizer, rules = zoo(kind)
    counting = Counting(tokenizer)
    return counting, IncrementalEncoder(counting, rules, max_bytes=max_bytes)


@pytest.fixture
def dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seams and registered prefixes everywhere, so that short texts meet all of them."""
    monkeypatch.setattr(seams, "_HARD_SPACING", 1)
    monkeypatch.setattr(seams, "_SOFT_SPACING", 4)
    monkeypatch.setattr(shelf, "STRIDE", 4)
    monkeypatch.setattr(incremental, "STRIDE", 4)


@pytest.mark.slow
@pytest.mark.usefixtures("dense")
@pytest.mark.parametrize("kind", ZOO)
@FIXTURES
@given(start=nasty_text, changes=steps)
def test_ids_are_those_of_a_full_encoding(kind: str, start: str, changes: list[Step]) -> None:
    counting, encode = encoder(kind)
    for text in play(start, changes):
        assert encode.encode(text, "").tolist() == counting.full(text)


@pytest.fixture(scope="module", params=["byte_level", "sentencepiece_like", "default_codec"])
def own(request: pytest.FixtureRequest) -> tuple[Tokenizer, SeamRules]:
    """The tokenizers that the repository's other tests use, the default model's among them."""
    found = request.getfixturevalue(request.param)
    tokenizer = Tokenizer.from_str(found.tokenizer_json) if isinstance(found, Codec) else found
    return tokenizer, SeamRules(tokenizer)


@pytest.mark.slow
@pytest.mark.usefixtures("dense")
@FIXTURES
@given(start=nasty_text, changes=steps, noise=st.text(max_size=20))
def test_ids_of_the_repositorys_own_tokenizers_are_those_of_a_full_encoding(
    own: tuple[Tokenizer, SeamRules], start: str, changes: list[Step], noise: str
) -> None:
    counting = Counting(own[0])
    encode = IncrementalEncoder(counting, own[1], max_bytes=1_000_000)
    for text in play(start + noise, changes):
        assert encode.encode(text, "").tolist() == counting.full(text)


@pytest.mark.usefixtures("dense")
@pytest.mark.parametrize("kind", ["smollm", "qwen2", "llama-bpe", "sentencepiece, prefix"])
def test_turn_09_a_text_may_grow_at_every_position(kind: str) -> None:
    whole = "".join(PIECES)
    for start in range(0, len(whole), 60):
        text = whole[start : start + 60]
        counting, encode = encoder(kind)
        for cut in range(1, len(text)):
            assert encode.encode(text[:cut], "").tolist() == counting.full(text[:cut])


@pytest.mark.parametrize("history", [20, 2000])
def test_a_further_turn_costs_itself(history: int) -> None:
    counting, encode = encoder(max_bytes=10_000_000)
    encode.encode(history * TURN, "")
    counting.again()
    text = (history + 1) * TURN
    assert encode.encode(text, "").tolist() == counting.full(text)
    assert counting.again() < 3 * len(TURN)


def test_a_prompt_that_asks_for_an_answer_is_extended_by_it() -> None:
    counting, encode = encoder()
    prompt = 50 * TURN + "<|im_start|>assistant\n"
    encode.encode(prompt, "")
    counting.again()
    text = prompt + "Yes.<|im_end|>\n" + TURN
    assert encode.encode(text, "").tolist() == counting.full(text)
    assert counting.again() < 3 * len(TURN)


@pytest.mark.parametrize("kind", ["smollm", "qwen2", "llama-bpe", "tekken", "metaspace first"])
@pytest.mark.parametrize("line", ["and then the other one, again ", "return x;\n"])
def test_text_without_special_tokens_goes_on_inside(kind: str, line: str) -> None:
    counting, encode = encoder(kind)
    text = 500 * line
    encode.encode(text, "")
    counting.again()
    text += 3 * line
    assert encode.encode(text, "").tolist() == counting.full(text)
    assert counting.again() < 2500


def test_an_edit_costs_what_follows_it() -> None:
    counting, encode = encoder()
    encode.encode(100 * TURN, "")
    counting.again()
    text = 80 * TURN + "<s>" + 20 * TURN
    assert encode.encode(text, "").tolist() == counting.full(text)
    assert counting.again() < 23 * len(TURN)


def test_the_same_prompt_again_costs_nothing_even_after_it_went_on() -> None:
    counting, encode = encoder()
    prompt = 10 * TURN
    first = encode.encode(prompt, "")
    encode.encode(prompt + TURN, "")
    counting.again()
    assert encode.encode(prompt, "") == first
    assert encode.encode(prompt + TURN, "").tolist() == counting.full(prompt + TURN)
    assert counting.again() == 0


def test_a_text_that_ends_inside_a_word_is_not_taken_for_a_prefix_of_its_continuation() -> None:
    counting, encode = encoder()
    for text in (20 * TURN + "the", 20 * TURN + "then", 20 * TURN + "the"):
        assert encode.encode(text, "").tolist() == counting.full(text)


def test_prs_10_scopes_do_not_see_each_other() -> None:
    counting, encode = encoder()
    encode.encode(50 * TURN, "one")
    counting.again()
    encode.encode(50 * TURN, "two")
    assert counting.again() == len(50 * TURN)


def test_memory_is_bounded_and_the_oldest_text_goes_first() -> None:
    counting, encode = encoder(max_bytes=100_000)
    texts = [f"<s>{number}" + 50 * TURN for number in range(20)]
    for text in texts:
        encode.encode(text, "")
        assert encode.nbytes <= 100_000
    counting.again()
    encode.encode(texts[-1], "")
    assert counting.again() == 0
    encode.encode(texts[0], "")
    assert counting.again() == len(texts[0])


def test_a_text_larger_than_the_memory_is_encoded_and_forgotten() -> None:
    counting, encode = encoder(max_bytes=1000)
    assert encode.encode(50 * TURN, "").tolist() == counting.full(50 * TURN)
    assert encode.nbytes == 0


def test_remembering_takes_a_few_bytes_for_each_token() -> None:
    _, encode = encoder(max_bytes=100_000_000)
    text = 1000 * TURN
    tracemalloc.start()
    tokens = len(encode.encode(text, ""))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4 * tokens + len(text) + 32 * 1000 + 100_000
    assert held < encode.nbytes + len(text) + 100_000


def test_a_random_tokenizer_is_never_remembered() -> None:
    tokenizer = named("smollm")
    model = tokenizer.model
    assert isinstance(model, models.BPE)
    model.dropout = 0.5
    tokenizer.model = model
    counting = Counting(tokenizer)
    encode = IncrementalEncoder(counting, SeamRules(tokenizer), max_bytes=1_000_000)
    for _ in range(2):
        encode.encode(20 * TURN, "")
        assert counting.again() == len(20 * TURN)


class Contrary(Counting):
    """Breaks every seam: what a text is encoded to depends on its length."""

    def __init__(self, tokenizer: Tokenizer, damage: Callable[[list[int], str], list[int]]) -> None:
        super().__init__(tokenizer)
        self._damage = damage

    def __call__(self, text: str) -> Encoded:
        encoded = super().__call__(text)
        return _Encoded(self._damage(encoded.ids, text), encoded.offsets)

    def full(self, text: str) -> list[int]:
        return self._damage(super().full(text), text)


@dataclass
class _Encoded:
    ids: list[int]
    offsets: list[tuple[int, int]]


@pytest.mark.parametrize("turn", [TURN, "and then the other one, again and again \n"])
def test_a_tail_that_is_out_of_step_leads_to_a_full_encoding(turn: str) -> None:
    tokenizer, rules = zoo("smollm")

    def damage(ids: list[int], text: str) -> list[int]:
        return ids if text.startswith("<s>") else [id_ + 1 for id_ in ids]

    contrary = Contrary(tokenizer, damage)
    encode = IncrementalEncoder(contrary, rules, max_bytes=1_000_000)
    for count in (100, 101, 102):
        text = "<s>" + count * turn
        assert encode.encode(text, "").tolist() == contrary.full(text)


def test_half_a_surrogate_pair_is_refused_and_leaves_nothing(default_codec: Codec) -> None:
    text = 20 * TURN
    before = default_codec.encode(text, "half")
    with pytest.raises(TextError, match="half of a surrogate pair"):
        default_codec.encode(text + "\ud83d", "half")
    assert default_codec.encode(text + "x", "half")[: len(before)] == before


def test_callers_own_what_they_get() -> None:
    counting, encode = encoder()
    for ids in (encode.encode(TURN, ""), encode.encode(TURN, "")):
        ids[0] = 7
    assert encode.encode(TURN, "").tolist() == counting.full(TURN)


def test_threads_may_encode_at_once() -> None:
    counting, encode = encoder(max_bytes=60_000)
    texts = [f"<s>{n % 4}" + (5 + n % 7) * TURN + PIECES[n % len(PIECES)] for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: encode.encode(text, text[3]), texts))
    assert [ids.tolist() for ids in found] == [counting.full(text) for text in texts]
    assert encode.nbytes <= 60_000


def test_with_a_scope_a_codec_gives_the_same_ids_as_an_array(default_codec: Codec) -> None:
    for text in ("", "hi", 3 * TURN):
        ids = default_codec.encode(text, "codec")
        assert isinstance(ids, array)
        assert list(ids) == default_codec.encode(text)
        prompt = default_codec.encode_prompt(text, "codec")
        assert list(prompt) == default_codec.encode_prompt(text)
