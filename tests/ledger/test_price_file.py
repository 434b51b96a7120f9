import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from headstart.ledger import PriceError, PriceFile

TOML = """
source = "our contract"
date = 2026-11-30

[models.anthropic."claude-sonnet-4-5"]
input = 3
output = "15"
read = 0.3
written = { "5m" = 3.75, "1h" = 6 }
tiers = [{ above = 200000, input = 6, output = 22.5 }]

[models.engine."*"]
input = 0.10000000000000000001
output = 1

[models.engine."smol*"]
input = 2
output = 2

[[models.deepseek.deepseek-v4-pro]]
input = 0.66
output = 1.98

[[models.deepseek.deepseek-v4-pro]]
input = 1.32
output = 3.96
hours = "01:00-04:00"
"""
JSON = """{"models": {"engine": {"m": {"input": 0.10000000000000000001, "output": "1"}}}}"""
MOMENT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def prices() -> PriceFile:
    return PriceFile.parse(TOML, "own.toml", as_json=False)


def input_price(file: PriceFile, vendor: str, model: str, moment: datetime = MOMENT) -> Decimal:
    found = file.find(vendor, model)
    assert found is not None
    price = found.at(moment)
    assert price is not None
    return price.rates(1000).input


def test_a_file_gives_every_part_of_a_price_and_where_it_comes_from(prices: PriceFile) -> None:
    found = prices.find("anthropic", "claude-sonnet-4-5")

    assert found is not None
    assert found.source == "our contract, 2026-11-30"
    price = found.at(MOMENT)
    assert price is not None
    base, long = price.rates(200_000), price.rates(200_001)
    assert (base.input, base.output, base.read) == (3, 15, Decimal("0.3"))
    assert base.written == {"5m": Decimal("3.75"), "1h": 6}
    assert (long.input, long.output, long.read) == (6, Decimal("22.5"), None)


def test_a_name_with_its_day_is_the_model_without_it(prices: PriceFile) -> None:
    assert input_price(prices, "anthropic", "claude-sonnet-4-5-20250929") == 3


def test_the_closest_name_speaks_and_no_other_vendors(prices: PriceFile) -> None:
    assert input_price(prices, "engine", "smollm2") == 2
    assert prices.find("anthropic", "claude-sonnet-4-50") is None
    assert prices.find("openai", "claude-sonnet-4-5") is None


def test_prices_keep_every_digit_in_both_formats(prices: PriceFile) -> None:
    exact = Decimal("0.10000000000000000001")

    assert input_price(prices, "engine", "x") == exact
    assert input_price(PriceFile.parse(JSON, "own.json", as_json=True), "engine", "m") == exact


def test_a_price_may_hold_for_hours_of_the_day(prices: PriceFile) -> None:
    night = MOMENT.replace(hour=2)

    assert input_price(prices, "deepseek", "deepseek-v4-pro") == Decimal("0.66")
    assert input_price(prices, "deepseek", "deepseek-v4-pro", night) == Decimal("1.32")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[models.engine.m]\ninput = 1", "engine m: .*output"),
        ("[models.engine.m]\ninput = -1\noutput = 1", "engine m: .*0 or more"),
        ("[models.engine.m]\ninput = nan\noutput = 1", "engine m: .*0 or more"),
        ("[models.engine.m]\ninput = true\noutput = 1", "engine m: .*bool"),
        ("[models.engine.m]\ninput = 1\noutput = 1\nreads = 1", "engine m: .*reads"),
        ('[models.engine.m]\ninput = 1\noutput = 1\nhours = "4"', "engine m: .*01:00-04:00"),
        ("models = 1", "models"),
        ("prices = 1", "prices"),
        ("[", "at end of document"),
    ],
)
def test_a_bad_file_names_itself_the_model_and_the_mistake(text: str, problem: str) -> None:
    with pytest.raises(PriceError, match=problem) as caught:
        PriceFile.parse(text, "own.toml", as_json=False)

    assert str(caught.value).startswith("own.toml: ")


def test_the_example_in_the_documentation_is_a_price_file() -> None:
    docs = Path(__file__).parents[2] / "docs" / "ledger.md"
    (example,) = re.findall(r"```toml\n(.*?)```", docs.read_text("utf-8"), re.DOTALL)

    prices = PriceFile.parse(example, "docs", as_json=False)

    assert input_price(prices, "engine", "ours") == Decimal("0.05")


def test_the_name_tells_the_format_and_a_missing_file_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(JSON)

    assert PriceFile.read(path).find("engine", "m") is not None
    with pytest.raises(PriceError, match=r"absent\.toml"):
        PriceFile.read(tmp_path / "absent.toml")
