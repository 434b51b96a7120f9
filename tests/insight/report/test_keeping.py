"""Leave it, the longer lifetime, or keep it warm: sums by hand at Sonnet's prices."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.insight.report.logs import SONNET, START

from headstart.insight.asked.asked import Asked
from headstart.insight.report.gaps import Gaps, Idle
from headstart.insight.report.keeping import NOTHING, Choice, choose
from headstart.ledger import Rates, Rules

RULES = Rules.packaged()
SONNETS = Rates(Decimal(3), Decimal(15), Decimal("0.3"), {"5m": Decimal("3.75"), "1h": Decimal(6)})
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def uses(gap: float, count: int, *, vendor: Any = "anthropic", model: str = SONNET) -> Idle:
    """A prefix of 10,000 tokens, used `count` times, `gap` seconds apart."""
    gaps = Gaps()
    profile = RULES.profile(vendor, model)
    for number in range(count):
        asked = Asked("chat", vendor, model, (), {}, time=START + gap * number)
        gaps.prefix("k", "rules", asked, profile, 10_000)
    (idle,) = gaps
    return idle


def named(*of: tuple[str, str]) -> set[str]:
    """Of a prefix that each of these tenants sends twice to each of their models."""
    gaps = Gaps()
    for number in range(2):
        for tenant, model in of:
            profile, time = RULES.profile("anthropic", model), START + 60 * number
            asked = Asked("chat", "anthropic", model, (), {}, time=time, tenant=tenant)
            gaps.prefix("k", "rules", asked, profile, 10_000)
    return {idle.name for idle in gaps}


def test_a_prefix_of_several_tenants_or_models_is_told_apart_by_them() -> None:
    opus = "claude-opus-4-5"
    assert named(("a", SONNET)) == {"rules"}
    assert named(("a", SONNET), ("", SONNET)) == {"rules (tenant a)", "rules (no tenant)"}
    assert named(("a", SONNET), ("a", opus)) == {f"rules ({SONNET})", f"rules ({opus})"}
    assert named(("a", SONNET), ("b", opus)) == {
        f"rules (tenant a, {SONNET})",
        f"rules (tenant b, {opus})",
    }


def costs(choice: Choice | None) -> dict[str, float]:
    assert choice is not None
    return {option.name: float(option.cost) for option in choice.options}


def test_uses_every_minute_are_left_as_they_are() -> None:
    choice = choose(uses(60, 11), SONNETS, NOW)
    # 10,000 written at 3.75, 100,000 read at 0.30.
    assert costs(choice)["5m"] == pytest.approx(0.0375 + 0.03)
    assert costs(choice)["1h"] == pytest.approx(0.06 + 0.03)
    assert costs(choice)[NOTHING] == pytest.approx(0.33)
    assert choice is not None
    assert choice.best.name == "5m"


def test_uses_every_ten_minutes_take_the_hour() -> None:
    choice = choose(uses(600, 11), SONNETS, NOW)
    # Eleven times written; one write and ten reads; ten warmings at half time.
    assert costs(choice)["5m"] == pytest.approx(11 * 0.0375)
    assert costs(choice)["1h"] == pytest.approx(0.06 + 10 * 0.003)
    assert costs(choice)["5m, kept warm"] == pytest.approx(0.0375 + 20 * 0.003)
    assert choice is not None
    assert choice.best.name == "1h"
    assert choice.best.how == "$6/M × 10,000 + $0.3/M × 100,000"


def test_two_uses_ten_minutes_apart_are_kept_warm() -> None:
    """One warming for 0.003 saves a write of 0.0375; the hour costs 0.0225 more to write."""
    choice = choose(uses(600, 2), SONNETS, NOW)
    assert choice is not None
    assert choice.best.name == "5m, kept warm"
    assert choice.best.pings == 1


def test_uses_a_day_apart_are_not_cached() -> None:
    choice = choose(uses(86_400, 3), SONNETS, NOW)
    assert choice is not None
    assert choice.best.name == NOTHING
    assert choice.default.name == "5m"


@pytest.mark.parametrize(
    ("gap", "pings"), [(299, 0), (300, 0), (301, 1), (600, 1), (601, 2), (3600, 11)]
)
def test_a_warming_comes_before_each_end_of_the_lifetime(gap: float, pings: int) -> None:
    assert uses(gap, 2).pings["5m"] == pings


def test_geminis_explicit_cache_pays_rent_for_the_hours_it_is_held() -> None:
    """2.5 Flash: a dollar for a million tokens an hour. Two hours of 10,000 tokens are 0.02."""
    rates = Rates(Decimal("0.3"), Decimal("2.5"), Decimal("0.03"))
    choice = choose(uses(3600, 3, vendor="gemini", model="gemini-2.5-flash"), rates, NOW)
    assert costs(choice)["held explicitly"] == pytest.approx(0.003 + 0.0006 + 0.02)
    assert costs(choice)["implicit"] == pytest.approx(0.009)
    assert choice is not None
    assert choice.default.name == "implicit"


def test_without_prices_sums_are_tokens_at_the_input_price() -> None:
    choice = choose(uses(60, 11), None, NOW)
    assert choice is not None
    assert not choice.dollars
    # 1.25 times 10,000 and 0.1 times 100,000: the vendor's own multipliers.
    assert costs(choice)["5m"] == pytest.approx(22_500)


def test_where_a_vendor_leaves_no_choice_none_is_made() -> None:
    assert choose(uses(60, 3, vendor="deepseek", model="deepseek-chat"), None, NOW) is None


def test_what_is_below_the_minimum_is_not_counted() -> None:
    gaps = Gaps()
    profile = RULES.profile("anthropic", SONNET)
    for number in range(3):
        asked = Asked("chat", "anthropic", SONNET, (), {}, time=START + number)
        gaps.prefix("k", "rules", asked, profile, 1000)
    assert list(gaps) == []


def test_quantiles_of_gaps_are_within_a_tenth() -> None:
    gaps = Gaps()
    profile = RULES.profile("anthropic", SONNET)
    moment = START
    for gap in [0.0, *[20.0] * 8, 500.0, 500.0]:
        moment += gap
        asked = Asked("chat", "anthropic", SONNET, (), {}, time=moment)
        gaps.prefix("k", "rules", asked, profile, 10_000)
    (idle,) = gaps
    assert idle.quantile(0.5) == pytest.approx(20, rel=0.1)
    assert idle.quantile(0.9) == pytest.approx(500, rel=0.1)
