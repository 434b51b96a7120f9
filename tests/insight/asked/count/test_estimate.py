import time
from binascii import crc32
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.asked.count.estimate import MOST_WORDS, Estimate, tokens_of
from headstart.insight.asked.piece import utf8

SAMPLES = {
    # Each with its tokens by o200k_base (quicktok-v1 0.4.0, whose ids are tiktoken's).
    "english": (
        "You are the assistant of a mail order shop. Answer briefly and politely. Never promise a"
        " refund before you have looked at the order, and never tell a customer what another one"
        " has bought. If a parcel is late by more than five days, offer to send it again.",
        55,
    ),
    "chinese": (
        "你是一家网店的客服助手。请用简短礼貌的语言回答。在查看订单之前，绝不要承诺退款，"
        "也不要告诉客户别人买了什么。如果包裹晚到超过五天，请提出重新寄送。今天是星期一。",
        56,
    ),
    "japanese": (
        "あなたは通信販売店のアシスタントです。短く丁寧に答えてください。注文を確認する前に"
        "返金を約束してはいけません。荷物が五日以上遅れている場合は、再送を提案してください。",
        58,
    ),
    "python": (
        "def first_difference(left: Sequence[Block], right: Sequence[Block]) -> int | None:\n"
        '    """The index of the first block that differs."""\n'
        "    for index, (one, other) in enumerate(zip(left, right)):\n"
        "        if one.digest != other.digest:\n"
        "            return index\n"
        "    return None if len(left) == len(right) else min(len(left), len(right))\n",
        78,
    ),
    "json": (
        '{"type": "function", "function": {"name": "get_order", "description": "Looks an order up'
        ' by its number.", "parameters": {"type": "object", "properties": {"number": {"type":'
        ' "string"}, "with_items": {"type": "boolean"}}, "required": ["number"]}}}',
        68,
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_estimate_is_near_a_real_vocabulary(name: str) -> None:
    text, tokens = SAMPLES[name]
    assert Estimate().tokens(text) == pytest.approx(tokens, rel=0.2)


def test_on_a_mix_the_errors_nearly_cancel() -> None:
    told = sum(Estimate().tokens(text) for text, _ in SAMPLES.values())
    assert told == pytest.approx(sum(tokens for _, tokens in SAMPLES.values()), rel=0.06)


def test_four_characters_a_token_would_be_far_off_for_chinese() -> None:
    text, tokens = SAMPLES["chinese"]
    assert len(text) / 4 < 0.5 * tokens


texts = st.text() | st.text("ab_ .(\n\r1-的のア한жλé", max_size=80)


@given(texts)
def test_tokens_are_as_many_as_ids(text: str) -> None:
    estimate = Estimate()
    ids = [crc32(utf8(token)) for token in tokens_of(text)]
    assert list(estimate.ids(text)) == ids
    assert list(estimate.ids(text)) == ids, "as it is remembered"
    assert estimate.tokens(text) == len(ids)


def test_tokens_are_as_many_as_ids_in_every_short_text() -> None:
    estimate = Estimate()
    for letters in chain.from_iterable(product("a0 \n", repeat=size) for size in range(8)):
        text = "".join(letters)
        assert (text, estimate.tokens(text)) == (text, len(estimate.ids(text)))


@given(texts)
def test_the_stretches_are_the_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


@given(texts, texts)
def test_equal_beginnings_have_equal_ids_up_to_the_last_word(common: str, rest: str) -> None:
    beginning = common + " "
    short, long = Estimate().ids(beginning + "x"), Estimate().ids(beginning + "x" + rest)
    kept = len(list(tokens_of(beginning.rstrip(" ")))) - 1
    assert short[: max(0, kept)] == long[: max(0, kept)]


def test_white_space_alone_changes_ids() -> None:
    ids = Estimate().ids
    assert len({bytes(ids(text)) for text in ("a b", "a  b", "a   b", "a\nb", "a b ", " a b")}) == 6


def test_memory_of_words_is_bounded() -> None:
    estimate = Estimate()
    for number in range(3):
        text = " ".join(f"{number}w{each}" for each in range(MOST_WORDS))
        assert estimate.tokens(text) == len(estimate.ids(text))
    assert len(estimate._counts) <= 2 * MOST_WORDS + 2
    assert len(estimate._ids) <= 2 * MOST_WORDS + 2


def test_a_text_without_end_is_no_trouble() -> None:
    begun = time.process_time()
    Estimate().tokens("x" * 1_000_000 + " " * 1_000_000 + "\n" * 1_000_000 + "的" * 300_000)
    assert time.process_time() - begun < 5
