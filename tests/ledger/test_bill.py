"""The bills of the project's sources, to the cent, and the same arithmetic in fractions."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.ledger import Account, Lifetime, Profile, Rates, Rent, bill, break_even

DAY = date(2026, 11, 30)
LIFETIMES = {
    "5m": Lifetime(300, Decimal("1.25")),
    "1h": Lifetime(3600, Decimal(2)),
    "30m": Lifetime(1800, Decimal("1.25")),
    "12h": Lifetime(43200, Decimal("2.5")),
}
PROFILE = Profile(
    "anthropic",
    "anthropic",
    1024,
    lifetimes=LIFETIMES,
    read=Decimal("0.1"),
    rents=(Rent(Decimal("0.50"), date(2026, 12, 31)), Rent(Decimal(1))),
)
FIVE_DOLLARS = Rates(input=Decimal(5), output=Decimal(25))


def money(
    *accounts: Account, rates: Rates = FIVE_DOLLARS, profile: Profile = PROFILE
) -> tuple[Decimal, Decimal]:
    """(paid, without a cache) of several accounts together."""
    bills = [bill(account, rates, profile, DAY) for account in accounts]
    known = [each for each in bills if each is not None]
    assert len(known) == len(bills)
    return sum((each.paid for each in known), Decimal(0)), sum(
        (each.plain for each in known), Decimal(0)
    )


def uses(count: int, lifetime: str, tokens: int = 1_000_000) -> list[Account]:
    """One request that writes a prefix, and the others that read it."""
    return [
        Account(tokens, 0, written={lifetime: tokens}),
        *(Account(tokens, tokens) for _ in range(count - 1)),
    ]


def test_ten_prompts_of_2050_tokens_cost_the_sources_10_cents_plain_and_2_cents_cached() -> None:
    first = Account(2050, 0, written={"5m": 2000})

    paid, plain = money(first, *[Account(2050, 2000)] * 9)

    assert plain == Decimal("0.1025")
    assert plain.quantize(Decimal("0.001"), ROUND_HALF_UP) == Decimal("0.103")
    assert paid == Decimal("0.024")


@pytest.mark.parametrize(
    ("count", "cached", "saved"),
    [
        (1, "1.25", "-25.0"),
        (2, "1.35", "32.5"),
        (3, "1.45", "51.7"),
        (4, "1.55", "61.3"),  # 61.25
        (20, "3.15", "84.3"),  # 84.25
    ],
)
def test_a_prefix_used_1_2_3_4_and_20_times_saves_what_the_source_says(
    count: int, cached: str, saved: str
) -> None:
    one_dollar = Rates(input=Decimal(1), output=Decimal(0))

    paid, plain = money(*uses(count, "30m"), rates=one_dollar)

    assert (paid, plain) == (Decimal(cached), count)
    share = 100 * (plain - paid) / plain
    assert share.quantize(Decimal("0.1"), ROUND_HALF_UP) == Decimal(saved)


def test_a_write_of_1_25_pays_after_a_quarter_through_nine_tenths_of_a_read() -> None:
    found = break_even(Decimal("1.25"), Decimal("0.1"))

    assert found == Decimal("0.25") / Decimal("0.9")


@pytest.mark.parametrize(
    ("write", "read", "reads"),
    [("1.25", "0.1", 1), ("2", "0.1", 2), ("2.5", "0.1", 2), ("1.25", "0.5", 1)],
)
def test_break_even_is_where_the_bill_turns(write: str, read: str, reads: int) -> None:
    k = break_even(Decimal(write), Decimal(read))

    assert k is not None
    assert reads - 1 <= k < reads
    assert Decimal(write) + Decimal(read) * reads < 1 + reads
    assert Decimal(write) + Decimal(read) * (reads - 1) >= 1 + reads - 1


def test_a_free_write_has_paid_at_once_and_a_read_at_full_price_never_pays() -> None:
    assert break_even(Decimal(1), Decimal("0.5")) == 0
    assert break_even(Decimal("1.25"), Decimal(1)) is None


def test_check_65_openai_12k_written_and_9_reads_cost_2_15_times_against_10() -> None:
    paid, plain = money(*uses(10, "30m", tokens=12_000))

    once = Decimal(12_000) * 5 / 1_000_000
    assert (paid, plain) == (once * Decimal("2.15"), once * 10)


def test_check_65_anthropic_5m_written_and_read_once_costs_1_35_times_against_2() -> None:
    paid, plain = money(*uses(2, "5m", tokens=12_000))

    once = Decimal(12_000) * 5 / 1_000_000
    assert (paid, plain) == (once * Decimal("1.35"), once * 2)


def test_gemini_pays_the_creation_each_use_and_the_storage_by_the_hour() -> None:
    create = Account(
        100_000, 0, written={"explicit": 100_000}, token_seconds=360_000_000, warms=True
    )
    profile = Profile(
        "gemini",
        "gemini",
        4096,
        lifetimes={"explicit": Lifetime(3600, Decimal(1))},
        read=Decimal("0.1"),
        rents=(Rent(Decimal("4.50")),),
    )
    rates = Rates(input=Decimal(2), output=Decimal(12))

    paid, plain = money(create, *[Account(100_000, 100_000)] * 3, rates=rates, profile=profile)

    assert paid == Decimal("0.2") + 3 * Decimal("0.02") + Decimal("0.45")
    assert plain == 3 * Decimal("0.2")


def test_a_request_that_only_warms_costs_nothing_without_a_cache() -> None:
    warming = Account(2000, 0, written={"5m": 2000}, warms=True)

    found = bill(warming, FIVE_DOLLARS, PROFILE, DAY)

    assert found is not None
    assert (found.paid, found.plain) == (Decimal("0.0125"), 0)
    assert found.break_even == {"5m": Decimal("1.25") / Decimal("0.9")}


def test_rent_follows_its_calendar() -> None:
    held = Account(0, 0, token_seconds=3600 * 1_000_000)

    last = bill(held, FIVE_DOLLARS, PROFILE, date(2026, 12, 31))
    next_ = bill(held, FIVE_DOLLARS, PROFILE, date(2027, 1, 1))

    assert last is not None
    assert next_ is not None
    assert (last.rent, next_.rent) == (Decimal("0.5"), Decimal(1))
    assert (last.paid, last.plain) == (Decimal("0.5"), 0)


def test_a_price_list_goes_before_the_rules_multipliers() -> None:
    rates = Rates(Decimal(5), Decimal(25), read=Decimal(1), written={"5m": Decimal(6)})

    paid, _ = money(Account(2_000_000, 1_000_000, written={"5m": 1_000_000}), rates=rates)

    assert paid == 7


@pytest.mark.parametrize(
    "account",
    [
        Account(10, 1),
        Account(10, 0, written={"2h": 1}),
        Account(10, 0, token_seconds=1),
    ],
)
def test_a_part_whose_price_is_unknown_makes_the_bill_unknown_and_not_smaller(
    account: Account,
) -> None:
    assert bill(account, FIVE_DOLLARS, Profile("x", "engine", 0), DAY) is None


def test_what_is_not_there_needs_no_price() -> None:
    account = Account(10, 0, output=1, written={"5m": 0})

    found = bill(account, FIVE_DOLLARS, Profile("x", "engine", 0), DAY)

    assert found is not None
    assert found.break_even == {}
    assert found.paid == found.plain == Decimal("0.000075")


PRICES = st.decimals("0.001", 200, places=3)
TOKENS = st.integers(0, 2_000_000)


@given(
    parts=st.fixed_dictionaries(dict.fromkeys(("fresh", "read", "5m", "12h", "output"), TOKENS)),
    input_=PRICES,
    output=PRICES,
    warms=st.booleans(),
)
def test_a_bill_is_the_same_as_in_fractions(
    parts: dict[str, int], input_: Decimal, output: Decimal, warms: bool
) -> None:
    written = {name: parts[name] for name in ("5m", "12h")}
    prompt = parts["fresh"] + parts["read"] + sum(written.values())
    account = Account(prompt, parts["read"], parts["output"], written, warms=warms)

    found = bill(account, Rates(input_, output), PROFILE, DAY)

    weights = {"fresh": "1", "read": "1/10", "5m": "5/4", "12h": "5/2"}
    units = sum(parts[name] * Fraction(weight) for name, weight in weights.items())
    out = parts["output"] * Fraction(output)
    plain = 0 if warms else prompt * Fraction(input_) + out
    assert found is not None
    assert Fraction(found.paid) == (units * Fraction(input_) + out) / 1_000_000
    assert Fraction(found.plain) == plain / 1_000_000
    assert found.saved == found.plain - found.paid
