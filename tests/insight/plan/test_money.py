from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from tests.insight.plan.asking import ISSUE, NOW, ask, report, value

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.given import Given, understand
from headstart.insight.plan.money import (
    money,
    plain_offer,
    reads_to_break_even,
    share_to_break_even,
)
from headstart.insight.plan.reuse import Prompt

PROMPT = Prompt(1_000_000, 0)
DAY = date(2026, 11, 30)


def offer(write: str = "1.25", read: str = "0.1", rent: str = "0", seconds: float = 3600):  # type: ignore[no-untyped-def]
    """One dollar for a million plain tokens."""
    return plain_offer(
        write=Decimal(write),
        read=Decimal(read),
        rent=Decimal(rent),
        seconds=seconds,
        input_price=Decimal(1),
        day=DAY,
        given=True,
    )


def test_a_prefix_that_expired_is_written_each_time() -> None:
    (alive,) = money(offer(seconds=300), PROMPT, (4,), 300)
    (expired,) = money(offer(seconds=300), PROMPT, (4,), 301)
    assert (alive.prefix, expired.prefix) == (Decimal("1.55"), 4 * Decimal("1.25"))


def test_storage_is_paid_for_the_time_between_the_uses() -> None:
    """A million tokens at $1 an hour, five uses half an hour apart: two hours."""
    (bill,) = money(offer("1", "0.1", rent="1"), PROMPT, (5,), 1800)
    assert bill.prefix == 1 + Decimal("0.4") + 2


def test_storage_belongs_to_the_break_even() -> None:
    """A read saves 0.9 and half an hour costs 0.5: 0.4 are left to pay 0.25 back."""
    assert reads_to_break_even(offer(rent="1"), 1800) == Decimal("0.25") / Decimal("0.4")
    assert reads_to_break_even(offer(rent="1"), 3600) is None
    # Without a gap the whole lifetime is paid for.
    assert reads_to_break_even(offer(rent="1"), None) == Decimal("1.25") / Decimal("0.9")


def test_bills_and_break_even_agree() -> None:
    dear = offer("2.5", "0.1", rent="0.3")
    reads = reads_to_break_even(dear, 600)
    assert reads is not None
    (before,) = money(dear, PROMPT, (1 + int(reads),), 600)
    (after,) = money(dear, PROMPT, (2 + int(reads),), 600)
    assert before.prefix > before.prefix_plain
    assert after.prefix < after.prefix_plain


def test_a_read_without_discount_never_pays() -> None:
    assert reads_to_break_even(offer(read="1"), None) is None
    assert share_to_break_even(offer(read="1"), None) is None
    made = report(read=1)
    assert made.figure("break_even_reads").value is None
    assert any("never pays" in each for each in made.findings)


def test_of_nothing_no_share_is_saved() -> None:
    made = report(input_price=0)
    assert [row[3] for row in made.table("uses").rows] == [None] * 5


def test_a_vendors_lifetime_minimum_and_unit_hold(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '[models.anthropic."claude-opus-4-5"]\ninput = 5\noutput = 25\n'
        '[models.openai."gpt-4o"]\ninput = 2\noutput = 8\n'
    )
    hour = report(price="anthropic/claude-opus-4-5", prices=file, ttl="1h", prefix=4096)
    assert value(hour, "write_price") == 10
    small = report(price="anthropic/claude-opus-4-5", prices=file)
    assert "claude-opus-4-5 caches no prefix below 4,096 tokens." in small.findings[0]
    assert small.table("uses").rows[-1][3] == 0
    stepped = ask(price="openai/gpt-4o", prices=file).offer
    assert stepped is not None
    assert stepped.cached(Prompt(1500, 10)) == 1408  # 11 steps of 128.


def test_geminis_explicit_cache_pays_rent(tmp_path: Path) -> None:
    """gemini-2.5-flash: $1 for a million tokens held an hour; 100,000 tokens, an hour."""
    file = tmp_path / "prices.toml"
    file.write_text('[models.gemini."gemini-2.5-flash"]\ninput = 0.3\noutput = 2.5\n')
    given = {"price": "gemini/gemini-2.5-flash", "prices": file, "prefix": 100_000}
    (twice,) = (r for r in report(**given, gap="1h").table("uses").rows if r[0] == 2)
    assert twice[1] == Decimal("0.03") + Decimal("0.003") + Decimal("0.1")
    implicit = report(**given, ttl="implicit").table("uses").rows
    assert implicit[1][1] == Decimal("0.033")


def test_an_unknown_price_is_unknown_and_not_0() -> None:
    asked, unknown = understand(Given(**{**_fields(), "price": "openai/gpt-99"}), now=NOW)
    assert asked.offer is None
    assert unknown == "The price of openai/gpt-99 is unknown; give one with --prices FILE."


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"price": "gpt-5.6"}, "is not VENDOR/MODEL"),
        ({"price": "acme/model"}, "is not VENDOR/MODEL"),
        ({"price": "anthropic/claude-sonnet-4-5", "ttl": "2h"}, "has no lifetime '2h'; it has 5m"),
        ({"prices": Path("absent.toml"), "price": "openai/gpt-5.6"}, "absent.toml"),
        ({"rent": 1.0}, "say --input-price"),
        ({"as_of": "yesterday"}, "is no day"),
        ({"gap": "soon"}, "is no number"),
    ],
)
def test_what_cannot_be_priced_is_one_line(given: dict[str, object], problem: str) -> None:
    with pytest.raises(PlanError, match=problem) as caught:
        ask(**given)
    assert "\n" not in str(caught.value)


def _fields() -> dict[str, object]:
    return {name: getattr(ISSUE, name) for name in ISSUE.__dataclass_fields__}
