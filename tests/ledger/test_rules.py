"""The packaged rules say what the vendors' documents say; the numbers here are theirs."""

import re
from datetime import date
from decimal import Decimal

import pytest

from headstart.ledger import PriceFile, Rules

RULES = Rules.packaged()

ROWS = """
[[rules]]
vendor = "v"
names = ["*"]
contract = "anthropic"
minimum = 1
read = 0.1
source = "all"
date = "2026-01-01"

[[rules]]
vendor = "v"
names = ["a", "a-1*"]
minimum = 3
source = "close"
date = "2026-01-03"

[[rules]]
vendor = "v"
names = ["a*"]
minimum = 2
read = 0.5
source = "family"
date = "2026-01-02"
"""


def test_the_closest_row_holds_field_by_field_and_each_field_keeps_its_source() -> None:
    rules = Rules.parse(ROWS)

    exact, family, other = (rules.profile("v", name) for name in ("a", "ab", "b"))

    assert (exact.minimum, exact.read) == (3, Decimal("0.5"))
    assert (family.minimum, family.read) == (2, Decimal("0.5"))
    assert (other.minimum, other.read) == (1, Decimal("0.1"))
    assert rules.profile("v", "a-1-x").minimum == 3
    assert {name: source.text for name, source in exact.sources.items()} == {
        "contract": "all",
        "minimum": "close",
        "read": "family",
    }


def test_an_unknown_vendor_is_an_error_and_an_unknown_model_is_not() -> None:
    with pytest.raises(KeyError):
        RULES.profile("nobody", "claude-opus-5")

    assert RULES.profile("anthropic", "claude-in-2040").minimum == 1024


def test_every_field_of_every_profile_has_a_source_and_a_day() -> None:
    for vendor in RULES.vendors:
        for model in ["any", *RULES.names(vendor)]:
            profile = RULES.profile(vendor, model)
            assert {"contract", "minimum", "lifetimes"} <= set(profile.sources)
            for source in profile.sources.values():
                assert source.text
                assert re.fullmatch(r"202[4-9]-\d\d(-\d\d)?", source.date)


@pytest.mark.parametrize(
    ("minimum", "models"),
    [
        (512, "claude-fable-5 claude-mythos-5-1 claude-opus-5 claude-opus-5-5 claude-sonnet-5-5"),
        (1024, "claude-opus-4-8 claude-opus-4-1 claude-opus-4-20250514 claude-sonnet-5"),
        (1024, "claude-sonnet-4-6 claude-sonnet-4-5-20250929 claude-sonnet-4-0"),
        (2048, "claude-opus-4-7 claude-mythos-preview claude-3-5-haiku-latest"),
        (4096, "claude-opus-4-5 claude-opus-4-6 claude-haiku-4-5-20251001"),
    ],
)
def test_a7_each_claude_has_its_minimum(minimum: int, models: str) -> None:
    for model in models.split():
        assert RULES.profile("anthropic", model).minimum == minimum


def test_a11_claude_writes_cost_1_25_and_2_and_reads_a_tenth_or_less() -> None:
    profile = RULES.profile("anthropic", "claude-opus-4-5")
    five, hour = profile.lifetime("5m"), profile.lifetime("1h")

    assert five is not None
    assert hour is not None
    assert (five.seconds, five.write) == (300, Decimal("1.25"))
    assert (hour.seconds, hour.write) == (3600, 2)
    assert profile.default_lifetime == "5m"
    assert (profile.marks, profile.lookback) == (4, 20)
    reads = {
        model: RULES.profile("anthropic", model).read
        for model in ("claude-opus-4-5", "claude-opus-5-5", "claude-fable-5-1", "claude-mythos-5-1")
    }
    assert [str(read) for read in reads.values()] == ["0.1", "0.05", "0.025", "0.025"]


@pytest.mark.parametrize(
    ("model", "contract", "read"),
    [
        ("gpt-5.6", "openai_breakpoints", "0.1"),
        ("gpt-6.1-sol", "openai_breakpoints", "0.05"),
        ("gpt-7", "openai_breakpoints", "0.1"),
        ("gpt-5.5", "openai_interval", "0.1"),
        ("gpt-5-mini-2025-08-07", "openai_interval", "0.1"),
        ("gpt-4o-mini", "openai_interval", "0.5"),
        ("o1-2024-12-17", "openai_interval", "0.5"),
        ("gpt-4.1-mini", "openai_interval", "0.25"),
        ("o3", "openai_interval", "0.25"),
        ("o3-mini", "openai_interval", "0.5"),
    ],
)
def test_o10_openais_two_regimes_and_their_read_prices(
    model: str, contract: str, read: str
) -> None:
    profile = RULES.profile("openai", model)

    assert (profile.contract, profile.read) == (contract, Decimal(read))
    assert profile.minimum == 1024
    assert profile.unit == (1 if contract == "openai_breakpoints" else 128)


def test_o10_o11_new_models_write_at_1_25_for_30m_and_2_5_for_12h() -> None:
    lifetimes = RULES.profile("openai", "gpt-6.1-sol").lifetimes

    assert {name: (each.seconds, str(each.write)) for name, each in lifetimes.items()} == {
        "30m": (1800, "1.25"),
        "12h": (43200, "2.5"),
    }


def test_o13_which_old_models_retain_for_24h() -> None:
    choices = {
        model: list(RULES.profile("openai", model).lifetimes)
        for model in ("gpt-5.5", "gpt-5.1-codex", "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-5-nano")
    }

    assert choices == {
        "gpt-5.5": ["24h"],
        "gpt-5.1-codex": ["24h", "in_memory"],
        "gpt-4.1": ["24h", "in_memory"],
        "gpt-4.1-mini": ["in_memory"],
        "gpt-4o": ["in_memory"],
        "gpt-5-nano": ["in_memory"],
    }


@pytest.mark.parametrize(
    ("model", "implicit", "explicit"),
    [
        ("gemini-4-argon", 4096, None),
        ("gemini-3.8-flash", 4096, 4096),
        ("gemini-3.5-flash-lite", 4096, 1024),
        ("gemini-2.5-flash", 2048, 1024),
        ("gemini-2.5-pro", 2048, 4096),
    ],
)
def test_g2_g5_gemini_has_two_minimums(model: str, implicit: int, explicit: int | None) -> None:
    profile = RULES.profile("gemini", model)

    assert (profile.minimum, profile.explicit_minimum) == (implicit, explicit)


def test_g4_g9_gemini_keeps_for_an_hour_and_takes_rent() -> None:
    def rent(model: str, *day: int) -> Decimal | None:
        return RULES.profile("gemini", model).rent(date(*day))  # type: ignore[misc, arg-type]

    assert RULES.profile("gemini", "gemini-2.5-pro").default_lifetime == "explicit"
    explicit = RULES.profile("gemini", "gemini-2.5-pro").lifetime("explicit")
    assert explicit is not None
    assert explicit.seconds == 3600
    assert rent("gemini-2.5-flash", 2026, 11, 30) == 1
    assert rent("gemini-3.1-pro-preview", 2026, 11, 30) == Decimal("4.5")
    assert rent("gemini-3.8-flash", 2026, 12, 31) == Decimal("0.5")
    assert rent("gemini-3.8-flash", 2027, 1, 1) == 1
    assert rent("gemini-9", 2027, 1, 1) is None


def test_d3_d6_deepseek_counts_in_64s_and_leaves_the_read_price_to_price_lists() -> None:
    profile = RULES.profile("deepseek", "deepseek-v4-pro")

    assert (profile.contract, profile.minimum, profile.unit) == ("deepseek", 64, 64)
    assert profile.read is None


def test_the_engines_own_contract_has_no_rules_and_no_prices() -> None:
    profile = RULES.profile("engine", "smollm2-135m-instruct")

    assert (profile.contract, profile.minimum, profile.unit, profile.read) == ("engine", 0, 1, None)
    assert not profile.lifetimes


def test_each_contract_is_one_vendors() -> None:
    assert RULES.vendor("openai_breakpoints") == RULES.vendor("openai_interval") == "openai"
    assert RULES.vendor("anthropic") == "anthropic"
    assert RULES.vendor("nobodys") is None


def test_multipliers_agree_with_the_price_list_wherever_both_know() -> None:
    prices, compared = PriceFile.packaged(), 0
    for vendor in RULES.vendors:
        for model in RULES.names(vendor):
            found, profile = prices.find(vendor, model), RULES.profile(vendor, model)
            rates = [
                rates for price in (found.prices[-1:] if found else ()) for _, rates in price.tiers
            ]
            for each in rates:
                if each.read is not None and profile.read is not None:
                    assert each.read == each.input * profile.read, model
                    compared += 1
                for name, written in each.written.items():
                    lifetime = profile.lifetime(name)
                    assert lifetime is not None, model
                    assert written == each.input * lifetime.write, model
                    compared += 1
    assert compared > 100
