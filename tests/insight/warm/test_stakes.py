"""Break-even: price tables of dialects.md, §6, and the ledger's bills."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.plan.money import Offer
from headstart.insight.warm.choices import choices
from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.dialects.dialect import Target
from headstart.insight.warm.errors import NoPrice, WarmError
from headstart.insight.warm.stakes import (
    Expected,
    Stakes,
    Verdict,
    offer_of,
    outlook,
    stakes,
)
from headstart.ledger import PriceBook, Rules

DAY = datetime(2026, 11, 30, tzinfo=UTC)
RULES = Rules.packaged()


def offer(
    vendor: str, model: str, lifetime: str | None = None, book: PriceBook | None = None
) -> Offer:
    return offer_of(
        vendor,
        model,
        lifetime=lifetime,
        seconds=300.0,
        tokens=4000,
        book=book or PriceBook.standard(),
        rules=RULES,
        moment=DAY,
    )


def at_stake(
    dialect: str, vendor: str, model: str, lifetime: str, *, prefix: int, rest: int = 0
) -> Stakes:
    aim = Target(model, {"x": 1}, RULES.profile(vendor, model), lifetime, 300.0, 285.0)
    return stakes(DIALECTS[dialect], aim, offer(vendor, model, lifetime), prefix, rest)


def test_anthropics_calls_cost_a_read_and_save_the_difference_to_a_write() -> None:
    found = at_stake("anthropic", "anthropic", "claude-opus-5", "5m", prefix=1_000_000)
    # $5 a million: a write 6.25, a read 0.50 (rule A11).
    assert (found.first, found.again, found.saved) == tuple(map(Decimal, ("6.25", "0.5", "5.75")))
    hour = at_stake("anthropic", "anthropic", "claude-opus-5", "1h", prefix=1_000_000)
    assert (hour.first, hour.saved) == (Decimal(10), Decimal("9.5"))


def test_what_lies_behind_the_prefix_is_paid_each_time_and_saves_nothing() -> None:
    bare = at_stake("anthropic", "anthropic", "claude-opus-5", "5m", prefix=4000)
    more = at_stake("anthropic", "anthropic", "claude-opus-5", "5m", prefix=4000, rest=1000)
    assert more.again - bare.again == Decimal(5) / 1000
    assert more.saved == bare.saved


def test_geminis_calls_cost_rent_for_the_time_between_them() -> None:
    found = at_stake("gemini", "gemini", "gemini-2.5-flash", "explicit", prefix=1_000_000)
    hour = Decimal(1)  # $1 for a million tokens held an hour (rule G9).
    assert found.first == Decimal("0.3") + hour * 300 / 3600
    assert found.again == hour * 285 / 3600
    assert found.saved == Decimal("0.27")


def test_a_model_without_a_price_is_counted_in_its_input_tokens() -> None:
    unpriced = offer("openai", "gpt-9-nobody")
    assert not unpriced.dollars
    aim = Target("m", {"x": 1}, unpriced.profile, "30m", 1800.0, 1710.0)
    found = stakes(DIALECTS["openai-responses"], aim, unpriced, 1000, 0)
    assert (found.first, found.again, found.saved) == (1250, 100, 1150)


def test_where_nobody_bills_what_counts_is_tokens_computed() -> None:
    ours = offer("engine", "tiny")
    assert not ours.dollars
    aim = Target("tiny", {"x": 1}, ours.profile, None, 300.0, 285.0)
    found = stakes(DIALECTS["headstart"], aim, ours, 1000, 1)
    assert (found.first, found.again, found.saved) == (1001, 1, 1000)


def test_an_operators_own_price_of_our_server_counts(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[models.engine."tiny"]\ninput = 5\noutput = 10\nread = 0.5\n')
    ours = offer("engine", "tiny", book=PriceBook.standard(tmp_path / "p.toml"))
    assert ours.dollars
    assert (ours.write, ours.read) == (Decimal(5), Decimal("0.5"))


@pytest.mark.parametrize("model", ["deepseek-nobody-knows", "x"])
def test_without_a_price_of_reads_nobody_can_say(model: str) -> None:
    with pytest.raises(NoPrice, match="unknown"):
        offer("deepseek", model)


def test_a_lifetime_that_the_vendor_lacks_is_named() -> None:
    with pytest.raises(WarmError, match="no lifetime '2h'; it has 5m, 1h"):
        offer("anthropic", "claude-opus-5", "2h")


FIVE = Stakes(Decimal("1.25"), Decimal("0.1"), Decimal("1.15"))
"""Anthropic's, of one prefix, in units of its plain price."""


@pytest.mark.parametrize(
    ("uses", "gaps", "calls", "pays", "verdict"),
    [
        (1, [], None, 0, "too dear"),  # 1.15 is less than the write.
        (2, [], None, 10, "pays"),  # (2.3 - 1.25) / 0.1
        (10, [600.0], 20, 102, "pays"),  # (6,000 - 300) / 285; (11.5 - 1.25) / 0.1
        (10, [3600.0], 126, 102, "too dear"),
        (10, [60.0], 2, 0, "needless"),
        (10, [60.0, 600.0], 11, 50, "pays"),  # 1 + 9 / 2 would miss: (6.325 - 1.25) / 0.1
    ],
)
def test_break_even_by_hand(
    uses: int, gaps: list[float], calls: int | None, pays: int, verdict: Verdict
) -> None:
    seen = outlook(FIVE, Expected(uses, gaps), 300.0, 285.0)
    assert (seen.calls, seen.pays, seen.verdict) == (calls, pays, verdict)


def test_a_first_token_that_is_worth_something_pays_for_a_single_use() -> None:
    worth = Decimal(1)
    seen = outlook(FIVE, Expected(1, worth=worth), 300.0, 285.0)
    assert seen.value == FIVE.saved + worth
    assert (seen.pays, seen.verdict) == (9, "pays")


@given(
    first=st.decimals(0, 10, places=3),
    again=st.decimals(0, 5, places=3),
    saved=st.decimals(0, 10, places=3),
    uses=st.integers(1, 200),
    gap=st.floats(1, 10_000),
)
def test_what_is_said_to_pay_never_costs_more_than_it_saves(
    first: Decimal, again: Decimal, saved: Decimal, uses: int, gap: float
) -> None:
    seen = outlook(Stakes(first, again, saved), Expected(uses, [gap]), 300.0, 285.0)
    assert seen.calls is not None
    if seen.verdict == "pays":
        assert first + seen.calls * again <= uses * saved
        assert gap > 300
    if seen.verdict == "too dear":
        assert first + max(1, seen.calls) * again > uses * saved


def ways(uses: int, gaps: list[float], lifetime: str = "5m") -> dict[tuple[str, int], Decimal]:
    aim = Target(
        "claude-opus-5", {"x": 1}, RULES.profile("anthropic", "claude-opus-5"), lifetime, 300, 285
    )
    price = offer("anthropic", "claude-opus-5", lifetime)
    found = choices(DIALECTS["anthropic"], aim, price, Expected(uses, gaps), 200_000, 0)
    assert [each.cost for each in found] == sorted(each.cost for each in found)
    return {(each.lifetime, each.calls): each.cost for each in found}


def test_every_lifetime_kept_or_left_alone_by_hand() -> None:
    """200,000 tokens at $5 a million are $1: a write 1.25 or 2, a read 0.1 (rule A11)."""
    # Ten uses 10 minutes apart: 6,000 s. 5m: 20 calls after the first; 1h: (6,000 - 3,600) / 3,420.
    assert ways(10, [600.0]) == {
        ("1h", 0): 2 + 9 * Decimal("0.1"),  # They keep it by themselves.
        ("1h", 2): 2 + Decimal("0.1") + 10 * Decimal("0.1"),
        ("5m", 21): Decimal("1.25") + 20 * Decimal("0.1") + 10 * Decimal("0.1"),
        ("5m", 0): 10 * Decimal("1.25"),
    }


def test_where_nobody_says_when_uses_come_there_is_nothing_to_choose() -> None:
    assert ways(10, []) == {}
