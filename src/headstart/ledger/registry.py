"""Prices from `genai-prices` (the `prices` extra): imported when first asked, never from the net.

The package carries its data; only its `UpdatePrices` fetches any, and nobody starts that here.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from operator import attrgetter
from typing import TYPE_CHECKING

from headstart.ledger.price import Price, Prices, Rates

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    Cost = Decimal | TieredPrices | None

PROVIDERS = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "gemini": "google",
    "openai": "openai",
}
"""Our name of a vendor, and theirs."""

WRITES = {
    "anthropic": {"5m": attrgetter("cache_write_mtok"), "1h": attrgetter("cache_write_1h_mtok")},
    "openai": {"30m": attrgetter("cache_write_mtok")},
}
"""What a write costs, by vendor and lifetime. What isn't here is left to the rules' multiplier."""


class Registry:
    """All models of genai-prices. Without the package it knows nothing."""

    def find(self, vendor: str, model: str) -> Prices | None:
        """The first question imports the package, which takes a quarter of a second and more."""
        provider = PROVIDERS.get(vendor)
        if provider is None:
            return None
        try:
            from genai_prices.data_snapshot import get_snapshot
        except ImportError:
            return None
        try:
            _, info = get_snapshot().find_provider_model(model, None, provider, None)
        except LookupError:
            return None
        prices = list(_prices(info, WRITES.get(vendor, {})))
        return Prices(prices, f"genai-prices {version('genai-prices')}") if prices else None


def _prices(info: "ModelInfo", writes: Mapping[str, "attrgetter[Cost]"]) -> Iterable[Price]:
    from genai_prices.types import ModelPrice, StartDateConstraint, TimeOfDateConstraint

    if isinstance(info.prices, ModelPrice):
        yield from _price(info.prices, writes)
        return
    for each in info.prices:
        match each.constraint:
            case StartDateConstraint(start_date=day):
                yield from _price(each.prices, writes, since=day)
            case TimeOfDateConstraint(start_time=begin, end_time=end):
                yield from _price(each.prices, writes, hours=(_utc(begin), _utc(end)))
            case None:
                yield from _price(each.prices, writes)


def _price(
    price: "ModelPrice",
    writes: Mapping[str, "attrgetter[Cost]"],
    *,
    since: date | None = None,
    hours: tuple[time, time] | None = None,
) -> Iterable[Price]:
    """One price, or none where what is read or written has none, as of embeddings."""
    written = {lifetime: cost(price) for lifetime, cost in writes.items()}
    costs = [price.input_mtok, price.output_mtok, price.cache_read_mtok, *written.values()]
    if costs[0] is None or costs[1] is None:
        return
    starts = sorted({0, *(start for cost in costs for start in _starts(cost))})
    tiers = []
    for start in starts:
        input_, output, read = (_above(cost, start) for cost in costs[:3])
        assert input_ is not None
        assert output is not None
        known = {lifetime: _above(cost, start) for lifetime, cost in written.items()}
        rates = {lifetime: each for lifetime, each in known.items() if each is not None}
        tiers.append((start, Rates(input_, output, read, rates)))
    yield Price(tiers, since, hours)


def _starts(cost: "Cost") -> list[int]:
    return [] if cost is None or isinstance(cost, Decimal) else [tier.start for tier in cost.tiers]


def _above(cost: "Cost", tokens: int) -> Decimal | None:
    """The cost of prompts that are longer than `tokens`, up to the next tier."""
    if cost is None or isinstance(cost, Decimal):
        return cost
    fitting = [tier for tier in cost.tiers if tier.start <= tokens]
    return max(fitting, key=lambda tier: tier.start).price if fitting else cost.base


def _utc(moment: time) -> time:
    """A time of day in UTC; without a zone it is one already."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.combine(date(1970, 1, 1), aware).astimezone(UTC).time()
