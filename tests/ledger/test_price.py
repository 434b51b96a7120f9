from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

from headstart.ledger import Price, Prices, Rates


def rates(dollars: int) -> Rates:
    return Rates(Decimal(dollars), Decimal(dollars))


def test_a_prompt_beyond_a_tier_is_billed_whole_at_it() -> None:
    price = Price([(0, rates(1)), (200_000, rates(2)), (500_000, rates(3))])

    tokens = (0, 200_000, 200_001, 500_000, 500_001)
    assert [price.rates(prompt).input for prompt in tokens] == [1, 1, 2, 2, 3]


def test_the_last_price_that_holds_counts() -> None:
    prices = Prices(
        [
            Price([(0, rates(1))]),
            Price([(0, rates(2))], since=date(2026, 9, 10)),
            Price([(0, rates(4))], hours=(time(1), time(4))),
        ],
        "test",
    )

    def at(*moment: int) -> Decimal:
        price = prices.at(datetime(*moment, tzinfo=UTC))  # type: ignore[misc, arg-type]
        assert price is not None
        return price.rates(10).input

    assert at(2026, 9, 9, 23, 59) == 1
    assert at(2026, 9, 10, 0, 0) == 2
    assert at(2026, 9, 10, 1, 0) == 4
    assert at(2026, 9, 10, 3, 59) == 4
    assert at(2026, 9, 10, 4, 0) == 2


def test_hours_may_span_midnight_and_are_read_in_utc() -> None:
    night = Price([(0, rates(1))], hours=(time(22), time(2)))
    beijing = timezone(timedelta(hours=8))

    assert night.holds(datetime(2026, 1, 1, 23, tzinfo=UTC))
    assert night.holds(datetime(2026, 1, 1, 1, tzinfo=UTC))
    assert not night.holds(datetime(2026, 1, 1, 2, tzinfo=UTC))
    assert night.holds(datetime(2026, 1, 2, 7, tzinfo=beijing))


def test_before_its_first_day_a_model_has_no_price() -> None:
    prices = Prices([Price([(0, rates(1))], since=date(2026, 9, 10))], "test")

    assert prices.at(datetime(2026, 9, 9, tzinfo=UTC)) is None
