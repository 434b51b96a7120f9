from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from headstart.ledger import Account, PriceBook, PriceFile, Prices, Row, Rules, Tariff

PRICES = """
[models.anthropic]
claude = { input = 5, output = 25, tiers = [{ above = 200000, input = 10, output = 50 }] }
[[models.deepseek.v4]]
input = 1
output = 1
read = 0.1
[[models.deepseek.v4]]
input = 2
output = 2
read = 0.2
hours = "01:00-04:00"
"""


@pytest.fixture
def tariff() -> Tariff:
    prices = PriceFile.parse(PRICES, "test", as_json=False)
    return Tariff(Rules.packaged(), PriceBook([prices]))


def test_the_contract_tells_the_vendor_and_the_prompt_its_tier(
    tariff: Tariff, row: Callable[..., Row]
) -> None:
    short = tariff.bill(row(Account(200_000, 100_000), model="claude"))
    long = tariff.bill(row(Account(200_001, 200_001), model="claude"))

    assert short is not None
    assert long is not None
    assert short.paid == Decimal("0.55")
    assert long.paid == Decimal("0.200001")


def test_the_time_of_the_request_tells_the_price(tariff: Tariff, row: Callable[..., Row]) -> None:
    def paid(hour: int) -> Decimal:
        time = datetime(2026, 11, 30, hour, tzinfo=UTC).timestamp()
        account = Account(2_000_000, 1_000_000)
        bill = tariff.bill(row(account, model="v4", contract="deepseek", time=time))
        assert bill is not None
        return bill.paid

    assert (paid(12), paid(2)) == (Decimal("1.1"), Decimal("2.2"))


@pytest.mark.parametrize("fields", [{"model": "x"}, {"model": "claude", "contract": "nobodys"}])
def test_what_has_no_price_has_no_bill(
    tariff: Tariff, row: Callable[..., Row], fields: dict[str, str]
) -> None:
    assert tariff.bill(row(**fields)) is None


def test_loading_reads_every_price_list() -> None:
    class Source:
        asked = 0

        def find(self, vendor: str, model: str) -> Prices | None:
            self.asked += 1
            return None

    sources = [Source(), Source()]

    Tariff(Rules.packaged(), PriceBook(sources)).load()

    assert [source.asked for source in sources] == [1, 1]
