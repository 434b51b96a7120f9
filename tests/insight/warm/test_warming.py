"""The state machine, with answers as Anthropic gives them and no clock but numbers."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.dialects.dialect import Target
from headstart.insight.warm.errors import CallFailed, Gone
from headstart.insight.warm.lives import margin_of
from headstart.insight.warm.stakes import Expected, offer_of
from headstart.insight.warm.warming import FINE, MOST_RETRIES, Warming
from headstart.ledger import PriceBook, Rules

RULES, BOOK = Rules.packaged(), PriceBook.standard()
BODY = {"cache_control": {"type": "ephemeral"}}
BEGIN = 1000.0


def warming(
    uses: int = 2,
    gaps: tuple[float, ...] = (),
    *,
    dialect: str = "anthropic",
    vendor: str = "anthropic",
    model: str = "claude-opus-5",
    seconds: float = 300.0,
    **more: Any,
) -> Warming:
    profile = RULES.profile(vendor, model)
    offer = offer_of(
        vendor,
        model,
        lifetime=None,
        seconds=seconds,
        tokens=4000,
        book=BOOK,
        rules=RULES,
        moment=datetime(2026, 11, 30, tzinfo=UTC),
    )
    interval = seconds - margin_of(seconds)
    target = Target(model, BODY, profile, offer.lifetime, seconds, interval)
    return Warming(
        name="p",
        dialect=DIALECTS[dialect],
        target=target,
        offer=offer,
        expected=Expected(uses, gaps),
        prefix=4000,
        begin=BEGIN,
        **more,
    )


def answer(read: int = 0, written: int = 0, fresh: int = 10) -> bytes:
    split = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    usage = {
        "input_tokens": fresh,
        "output_tokens": 0,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": split,
    }
    return json.dumps({"usage": usage}).encode()


def test_the_first_call_is_due_at_once_and_each_later_one_before_the_lifetime_ends() -> None:
    ours = warming()
    assert ours.due == BEGIN
    ours.heard(answer(written=3000), BEGIN + 1)
    assert ours.due == BEGIN + 1 + 285  # counted from when the call was sent, rule A8
    ours.heard(answer(read=3000), ours.due + 2)
    assert ours.due == BEGIN + 288 + 285
    assert ours.ended is None


@pytest.mark.parametrize(
    ("seconds", "margin"), [(300, 15), (3600, 180), (60, 5), (20, 5), (8, 2), (1, 0.25)]
)
def test_a_margin_is_a_twentieth_some_seconds_at_least_and_a_quarter_at_most(
    seconds: float, margin: float
) -> None:
    assert margin_of(seconds) == margin


def test_it_ends_when_one_more_call_would_cost_more_than_all_uses_save() -> None:
    ours = warming(uses=2)
    ours.heard(answer(written=10_000, fresh=0), BEGIN)
    calls = 1
    while ours.ended is None:
        ours.heard(answer(read=10_000, fresh=0), ours.due)
        calls += 1
    # (2 x 1.15 - 1.25) / 0.1 = 10.5 calls of a read.
    assert (ours.ended, calls, ours.findings) == ("break-even", 11, [])
    assert ours.spent <= ours.outlook.value < ours.spent + ours.outlook.stakes.again


def test_a_prefix_that_was_there_already_leaves_more_for_later_calls() -> None:
    ours = warming(uses=2)
    calls = 0
    while ours.ended is None:
        ours.heard(answer(read=10_000, fresh=0), ours.due)
        calls += 1
    assert calls == 23  # 2.3 / 0.1


def test_it_ends_once_what_is_kept_outlives_the_last_use() -> None:
    ours = warming(uses=10, gaps=(600.0,))
    ours.heard(answer(written=4000), BEGIN)
    while ours.ended is None:
        ours.heard(answer(read=4000), ours.due)
    assert ours.ended == "done"
    assert len(ours.sent) == 1 + 20  # (6,000 - 300) / 285
    assert ours.sent[-1].at + 300 >= BEGIN + 6000 > ours.sent[-2].at + 300


def test_it_ends_after_the_time_that_was_asked_for() -> None:
    ours = warming(uses=50, limit=600.0)
    ours.heard(answer(written=4000), BEGIN)
    ours.heard(answer(read=4000), ours.due)
    assert ours.ended is None
    ours.heard(answer(read=4000), ours.due)
    assert (ours.ended, len(ours.sent)) == ("done", 3)


@pytest.mark.parametrize(
    ("uses", "gaps", "end"),
    [(1, (), "too dear"), (9, (7200.0,), "too dear"), (9, (9.0,), "needless")],
)
def test_what_does_not_pay_is_never_begun(uses: int, gaps: tuple[float, ...], end: str) -> None:
    ours = warming(uses, gaps)
    assert (ours.ended, ours.sent) == (end, [])
    assert len(ours.findings) == 1


def test_an_estimate_of_the_size_gives_way_to_the_counters() -> None:
    ours = warming()
    before = ours.outlook
    ours.heard(answer(written=8000, fresh=2000), BEGIN)
    assert (ours.prefix, ours.rest, ours.measured) == (8000, 2000, True)
    assert ours.outlook.value == 2 * before.value
    assert ours.next_cost == Decimal(8000 * 5 // 10 + 2000 * 5) / 10**6
    assert ours.next_tokens == 10_000


def test_a_part_that_is_gone_is_a_finding_and_it_goes_on() -> None:
    ours = warming(uses=9)
    ours.heard(answer(written=4000), BEGIN)
    ours.heard(answer(read=1500, written=2500), BEGIN + 400)
    assert ours.findings == ["2,500 of 4,000 tokens were gone 400 s after the call before"]
    assert ours.ended is None
    ours.heard(answer(read=4000), BEGIN + 600)
    assert len(ours.findings) == 1


def test_nothing_cached_ends_it_after_one_call() -> None:
    ours = warming(uses=9)
    ours.heard(answer(fresh=400), BEGIN)
    assert ours.ended == "nothing cached"
    assert "400 prompt tokens" in ours.findings[0]


def chat(cached: int | None, prompt: int = 2048) -> bytes:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    usage = {"prompt_tokens": prompt, "completion_tokens": 1, **details}
    return json.dumps({"usage": usage}).encode()


def old_chat(**more: Any) -> Warming:
    """A model whose writes nobody tells."""
    return warming(
        uses=9, dialect="openai-chat", vendor="openai", model="gpt-5", seconds=600, **more
    )


def test_where_writes_are_not_told_the_second_call_proves_the_first() -> None:
    ours = old_chat()
    ours.heard(chat(1024), BEGIN)  # Another prompt's.
    assert (ours.ended, ours.measured, ours.prefix) == (None, False, 2048)
    ours.heard(chat(1920), BEGIN + 570)
    assert (ours.ended, ours.measured, ours.prefix) == (None, True, 1920)
    ours.heard(chat(0), BEGIN + 1200)
    assert ours.ended == "nothing cached"


def test_a_second_call_that_finds_nothing_ends_it() -> None:
    ours = old_chat()
    ours.heard(chat(0), BEGIN)
    ours.heard(chat(0), BEGIN + 570)
    assert ours.ended == "nothing cached"


def test_an_endpoint_that_tells_nothing_proves_nothing() -> None:
    ours = old_chat()
    ours.heard(chat(None), BEGIN)
    assert ours.ended == "not told"


def test_a_call_that_failed_is_sent_again_later_and_later() -> None:
    ours = warming()
    error = CallFailed("503", again=True)
    dues = []
    for _ in range(4):
        ours.failed(error, ours.due)
        dues.append(ours.due - BEGIN)
    assert dues == [1, 3, 7, 15]
    ours.failed(CallFailed("429", again=True, after=60.0), ours.due)
    assert ours.due == BEGIN + 15 + 60
    ours.heard(answer(written=4000), ours.due)
    ours.failed(error, ours.due)
    assert ours.due - ours.sent[-1].at == 285 + 1, "an answer begins the count anew"


def test_after_so_many_tries_it_is_unreachable_and_a_refusal_is_final() -> None:
    ours = warming()
    for _ in range(MOST_RETRIES + 1):
        assert ours.ended is None
        ours.failed(CallFailed("503", again=True), ours.due)
    assert ours.ended == "unreachable"
    refused = warming()
    refused.failed(CallFailed("401: no", again=False), BEGIN)
    assert (refused.ended, refused.findings) == ("refused", ["401: no"])


def test_what_is_gone_for_good_ends_it() -> None:
    ours = warming()
    ours.heard(answer(written=4000), BEGIN)
    ours.gone(Gone("403: not found"))
    assert (ours.ended, ours.findings) == ("gone", ["403: not found"])


def test_an_answer_that_is_none_changes_nothing() -> None:
    ours = warming()
    with pytest.raises(msgspec.MsgspecError):
        ours.heard(b"<html>", BEGIN)
    assert (ours.sent, ours.spent, ours.due) == ([], 0, BEGIN)


@given(
    uses=st.integers(2, 12),
    gap=st.none() | st.floats(301, 4000),
    prefix=st.integers(600, 100_000),
    rest=st.integers(0, 2000),
    late=st.floats(0, 14),
)
@settings(max_examples=examples(60))
def test_it_always_ends_never_late_and_never_spends_more_than_all_uses_save(
    uses: int, gap: float | None, prefix: int, rest: int, late: float
) -> None:
    ours = warming(uses, () if gap is None else (gap,))
    before = None
    while ours.ended is None:
        at = ours.due + late
        assert before is None or at < before + 300, "within the lifetime"
        there = before is not None
        ours.heard(answer(prefix * there, prefix * (not there), rest), at)
        before = at
        if ours.ended is None:
            assert ours.spent + ours.next_cost <= ours.outlook.value
    if ours.sent:
        assert ours.ended in FINE
        assert not ours.findings
