from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.insight.probe.cost import Budget, Purse, Rate, calls_within, plan, rate
from headstart.insight.probe.script import Usage
from headstart.insight.wire import EndpointError

DAY = datetime(2026, 11, 30, tzinfo=UTC)
PRICES = """
source = "test"
date = 2026-11-30
[models.anthropic.claude-sonnet-4-5]
input = 3
output = 15
read = 0.3
written = { 5m = 3.75 }
[models.deepseek.deepseek-chat]
input = 1
output = 2
read = 0.02
"""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(PRICES)
    return file


@pytest.fixture
def sonnet(prices: Path) -> Rate:
    found = rate("anthropic", "claude-sonnet-4-5", prices=prices, day=DAY)
    assert found is not None
    return found


def test_an_answer_is_billed_by_what_was_read_written_and_neither(sonnet: Rate) -> None:
    # (1,000 x 3 + 8,000 x 0.3 + 1,000 x 3.75 + 10 x 15) / 1e6
    usage = Usage(10_000, 8_000, 1_000, 10)
    assert sonnet.dollars(usage) == Decimal("0.0093")


def test_the_plan_is_what_it_takes_at_most_all_written_and_nothing_read(sonnet: Rate) -> None:
    planned = plan(50, 3_060, 1, sonnet)
    assert planned.tokens == 50 * 3_061
    assert planned.dollars == 50 * (3_060 * Decimal("3.75") + 15) / 1_000_000


def test_where_writes_cost_nothing_more_the_input_price_is_the_most(prices: Path) -> None:
    found = rate("deepseek", "deepseek-chat", prices=prices, day=DAY)
    assert found is not None
    assert plan(1, 1_000_000, 0, found).dollars == Decimal(1)


def test_a_model_that_no_list_knows_has_no_price() -> None:
    assert rate("openai", "smollm2-135m-instruct", prices=None, day=DAY) is None


def test_an_unknown_vendor_and_a_broken_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="no rules for nobody"):
        rate("nobody", "x", prices=None, day=DAY)
    file = tmp_path / "broken.toml"
    file.write_text("[")
    with pytest.raises(EndpointError, match=r"broken\.toml"):
        rate("openai", "x", prices=file, day=DAY)


def test_a_purse_has_room_until_one_more_call_like_the_last_would_be_too_much() -> None:
    purse = Purse(Budget(1_000, None), None, Usage(100, output=1))
    calls = 0
    while purse.has_room:
        purse.pay(Usage(200, None, None, 1))
        calls += 1
    # The fifth would make it 1,005.
    assert (calls, purse.tokens) == (4, 804)


def test_a_budget_in_dollars_holds_too(sonnet: Rate) -> None:
    purse = Purse(Budget(None, Decimal("0.01")), sonnet, Usage(1_000, output=0))
    while purse.has_room:
        purse.pay(Usage(1_000, 0, 0, 0))
    # A call is $0.003, and has to fit even if it writes everything: $0.00375.
    assert purse.dollars == Decimal("0.009") or purse.dollars == Decimal("0.006")
    assert purse.calls * Decimal("0.003") == purse.dollars


@pytest.mark.parametrize(
    ("tokens", "dollars", "calls"),
    # One call is 1,000 tokens and $0.00375.
    [(10_000, None, 10), (10_000, Decimal("0.0188"), 5), (2_999, Decimal(9), 2), (None, None, 0)],
)
def test_a_budget_covers_as_many_calls_as_its_tighter_limit(
    sonnet: Rate, tokens: int | None, dollars: Decimal | None, calls: int
) -> None:
    assert calls_within(Budget(tokens, dollars), plan(1, 1_000, 0, sonnet)) == calls


def test_what_an_endpoint_does_not_count_is_paid_as_expected() -> None:
    purse = Purse(Budget(1_000, None), None, Usage(300, output=1))
    purse.pay(Usage())
    assert purse.tokens == 301
