"""Remakes `prices.json` from the `prices` extra: `python -m headstart.ledger.snapshot`."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headstart.ledger.money import text
from headstart.ledger.price import Price, Rates
from headstart.ledger.registry import Registry
from headstart.ledger.rules import Rules

PATH = Path(__file__).with_name("prices.json")


def snapshot(rules: Rules, registry: Registry, day: date) -> dict[str, Any]:
    """The registry's prices of all models that `rules` names exactly, as `--prices` takes them."""
    models: dict[str, dict[str, Any]] = {}
    for vendor in rules.vendors:
        for name in rules.names(vendor):
            found = registry.find(vendor, name)
            if found is not None:
                prices = [_price(price) for price in found.prices]
                models.setdefault(vendor, {})[name] = prices[0] if len(prices) == 1 else prices
    return {
        "source": f"genai-prices {version('genai-prices')} (MIT, Pydantic Services Inc.)",
        "date": day.isoformat(),
        "models": models,
    }


def _price(price: Price) -> dict[str, Any]:
    (_, base), *tiers = price.tiers
    fields = _rates(base)
    if tiers:
        fields["tiers"] = [{"above": above, **_rates(rates)} for above, rates in tiers]
    if price.since is not None:
        fields["since"] = price.since.isoformat()
    if price.hours is not None:
        fields["hours"] = "-".join(_clock(moment) for moment in price.hours)
    return fields


def _rates(rates: Rates) -> dict[str, Any]:
    fields: dict[str, Any] = {"input": text(rates.input), "output": text(rates.output)}
    if rates.read is not None:
        fields["read"] = text(rates.read)
    if rates.written:
        fields["written"] = _written(rates.written)
    return fields


def _written(written: Mapping[str, Any]) -> dict[str, Any]:
    return {lifetime: text(price) for lifetime, price in written.items()}


def _clock(moment: time) -> str:
    return moment.strftime("%H:%M")


def main() -> None:
    """Write the file."""
    made = snapshot(Rules.packaged(), Registry(), datetime.now(UTC).date())
    PATH.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
