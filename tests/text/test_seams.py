import pytest
from tests.text.tokenizer_zoo import ZOO, with_tokens
from tokenizers import AddedToken, Tokenizer

from headstart.text.hard_seams import hard_tokens
from headstart.text.seams import SOFT, Seam, SeamRules, Seams
from headstart.text.soft_seams import allows_soft_seams

PROVED = {
    *("gpt-2", "smollm", "qwen2", "default", "llama-bpe", "tekken", "digits first"),
    *("byte level alone", "byte level, space before", "word borders", "overlapping tokens"),
    *("sentencepiece, prefix", "sentencepiece, no prefix", "metaspace never", "metaspace always"),
    *("metaspace first", "metaspace first, split"),
}


@pytest.mark.parametrize("kind", ZOO)
def test_ordinary_text_is_cut_only_where_every_part_of_the_tokenizer_is_known(kind: str) -> None:
    assert allows_soft_seams(ZOO[kind]()) is (kind in PROVED)


def test_the_default_model_has_seams_of_both_kinds(default_codec: object) -> None:
    tokenizer = Tokenizer.from_str(default_codec.tokenizer_json)  # type: ignore[attr-defined]
    rules = SeamRules(tokenizer)
    assert allows_soft_seams(tokenizer)
    text = "<|im_start|>" + 100 * "and then " + "<|im_end|>"
    encoded = tokenizer.encode(text)
    marks = [seam.mark for seam in rules.find(text, 0, encoded.ids, encoded.offsets)]
    assert marks == [1, SOFT, 2]


@pytest.mark.parametrize(
    "token",
    [
        AddedToken("<a>", normalized=True),
        AddedToken("<a>", normalized=False, single_word=True),
        AddedToken("\n<a>", normalized=False),
        AddedToken("", normalized=False),
        AddedToken("aba", normalized=False),
    ],
)
def test_a_token_that_cannot_begin_a_tail_makes_no_hard_seam(token: AddedToken) -> None:
    assert hard_tokens({5: token}) == {}


@pytest.mark.parametrize("other", ["<a><b>", "x<a>y", "a>x", "x<a", "<a>\n"])
def test_a_token_that_another_one_overlaps_makes_no_hard_seam(other: str) -> None:
    added = {5: AddedToken("<a>", normalized=False), 6: AddedToken(other, normalized=False)}
    assert "<a>" not in hard_tokens(added)


def test_a_token_that_gives_a_word_border_makes_no_hard_seam_where_one_is_asked_for() -> None:
    letters = AddedToken("<a", normalized=False)
    asks = AddedToken("the", normalized=False, single_word=True)
    assert hard_tokens({5: letters}) == {"<a": 5}
    assert hard_tokens({5: letters, 6: asks}) == {}


def test_a_seam_is_where_its_token_is() -> None:
    tokenizer = with_tokens()
    rules = SeamRules(tokenizer)
    text = "The fox" + 30 * " é" + "<|im_start|>the end" + 60 * "東" + "<|im_end|>" + 10 * " x"
    encoded = tokenizer.encode(text)
    found = list(rules.find(text, 0, encoded.ids, encoded.offsets))
    assert [text[seam.start : seam.reach] for seam in found] == ["<|im_start|>", "<|im_end|>"]
    assert [encoded.tokens[seam.token] for seam in found] == ["<|im_start|>", "<|im_end|>"]


def test_seams_are_found_by_what_two_texts_share() -> None:
    seams = Seams()
    for start in (10, 20, 30):
        seams.append(Seam(start, start + 5, start // 2, 7))
    assert [seams.within(shared) for shared in (14, 15, 24, 35, 99)] == [0, 1, 1, 3, 3]
    part = seams.first(2)
    part.append(Seam(25, 27, 12, SOFT))
    assert len(seams) == len(part) == 3
    assert seams[2] == Seam(30, 35, 15, 7)
