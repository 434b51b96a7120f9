"""Prices in a file: what `--prices` reads, and the snapshot in the package.

TOML or JSON of this form (docs/ledger.md), dollars for a million tokens:

    source = "our contract"
    date = 2026-11-30
    [models.anthropic.claude-sonnet-4-5]
    input = 3
    output = 15
    read = 0.3                   # else the input price times the multiplier in rules.toml
    written = { 5m = 3.75 }      # by lifetime; the same
    tiers = [{ above = 200000, input = 6, output = 22.5 }]

A name may end in `*`. A model whose price changes has a list of such tables, each with `since` (a
day) or `hours` (`"01:00-04:00"`), all in UTC; the last that holds counts.
"""

import json
import tomllib
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import msgspec

from headstart.ledger.names import matches, undated, weight
from headstart.ledger.price import Price, Prices, Rates


class PriceError(ValueError):
    """A file that holds no prices. `str()` names the file and the place."""


class _Rates(msgspec.Struct, forbid_unknown_fields=True):
    input: Decimal
    output: Decimal
    read: Decimal | None = None
    written: dict[str, Decimal] = {}

    def __post_init__(self) -> None:
        given = (self.input, self.output, self.read, *self.written.values())
        if not all(price is None or (price.is_finite() and price >= 0) for price in given):
            raise ValueError("a price is a number of dollars, 0 or more")

    def rates(self) -> Rates:
        return Rates(self.input, self.output, self.read, self.written)


class _Tier(_Rates, forbid_unknown_fields=True):
    above: int = 0


class _Price(_Rates, forbid_unknown_fields=True):
    since: date | None = None
    hours: str | None = None
    tiers: list[_Tier] = []

    def price(self) -> Price:
        tiers = sorted(self.tiers, key=lambda tier: tier.above)
        return Price(
            [(0, self.rates()), *((tier.above, tier.rates()) for tier in tiers)],
            self.since,
            None if self.hours is None else _hours(self.hours),
        )


class _File(msgspec.Struct, forbid_unknown_fields=True):
    models: dict[str, dict[str, Any]]
    source: str | None = None
    day: date | None = msgspec.field(name="date", default=None)


class PriceFile:
    """The prices of one file, by vendor and model name."""

    def __init__(self, models: Mapping[str, Mapping[str, Prices]]) -> None:
        self._models = models

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises PriceError."""
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PriceError(f"{path}: {error}") from error
        return cls.parse(text, str(path), as_json=path.suffix.lower() == ".json")

    @classmethod
    def packaged(cls) -> Self:
        """The snapshot that ships with headstart: models that rules.toml names, of one day."""
        text = (files("headstart.ledger") / "prices.json").read_text("utf-8")
        return cls.parse(text, "prices.json", as_json=True)

    @classmethod
    def parse(cls, text: str, name: str, *, as_json: bool) -> Self:
        """`name`: of the file, for errors and as the source where it tells none."""
        try:
            fields = _json(text) if as_json else tomllib.loads(text, parse_float=Decimal)
            file = msgspec.convert(_exact(fields), _File, strict=False)
            source = file.source or name
            if file.day is not None:
                source = f"{source}, {file.day}"
            return cls(
                {
                    vendor: {
                        model: _prices(f"{vendor} {model}", each, source)
                        for model, each in models.items()
                    }
                    for vendor, models in file.models.items()
                }
            )
        except (ValueError, RecursionError) as error:
            raise PriceError(f"{name}: {error}") from error

    def find(self, vendor: str, model: str) -> Prices | None:
        """By exact name, by the name without its day, or by the longest beginning."""
        models = self._models.get(vendor, {})
        for name in (model, undated(model)):
            if name in models:
                return models[name]
        fitting = [pattern for pattern in models if matches(pattern, model)]
        return models[max(fitting, key=weight)] if fitting else None


def _json(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_constant=Decimal)


def _exact(value: Any) -> Any:
    """Numbers as strings: the only form that becomes a Decimal without passing a float."""
    match value:
        case dict():
            return {str(key): _exact(each) for key, each in value.items()}
        case list():
            return [_exact(each) for each in value]
        case Decimal() | int() if not isinstance(value, bool):
            return str(value)
    return value


def _prices(name: str, given: Any, source: str) -> Prices:
    several = given if isinstance(given, list) else [given]
    try:
        prices = msgspec.convert(several, list[_Price], strict=False)
        return Prices([each.price() for each in prices], source)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _hours(text: str) -> tuple[time, time]:
    begin, dash, end = text.partition("-")
    if not dash:
        raise ValueError(f"'{text}' is not like 01:00-04:00")
    return time.fromisoformat(begin.strip()), time.fromisoformat(end.strip())
