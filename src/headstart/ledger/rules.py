"""What a vendor says of a model's cache and no price list holds, from the packaged `rules.toml`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Self

from headstart.ledger.names import matches, weight

MOST_PROFILES = 4096
"""Names come from clients: beyond so many they are worked out again."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a written prefix lives without use, and what writing it costs."""

    seconds: float
    write: Decimal
    """Times the plain input price."""


@dataclass(frozen=True, slots=True)
class Rent:
    """What storage costs through a day, or until further notice."""

    price: Decimal
    """Dollars for a million tokens held for an hour."""
    until: date | None = None
    """The last day, in UTC."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule was read, and when that text was current."""

    text: str
    date: str
    """A day or a month."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One model's numbers. None says that the vendor has no such rule, or tells it nowhere."""

    vendor: str
    contract: str
    minimum: int
    """Prompt tokens below which nothing is read or written."""
    explicit_minimum: int | None = None
    """Of a `cachedContents` resource (Gemini); None where the model has none."""
    unit: int = 1
    """Reads are reported in multiples of this."""
    marks: int | None = None
    """Most marks of one request (Anthropic), or most writes (OpenAI)."""
    lookback: int | None = None
    """Positions before a mark (Anthropic) or ends of messages (OpenAI) where an entry is sought."""
    window: int | None = None
    """The latest marks that are looked up."""
    lifetimes: Mapping[str, Lifetime] = field(default_factory=dict)
    """By the vendor's name; the first is the default."""
    read: Decimal | None = None
    """Price of a read, times the plain input price. A price list that has its own goes before."""
    rents: Sequence[Rent] = ()
    context: int | None = None
    """Tokens."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """By field."""

    @property
    def numbers(self) -> dict[str, Any]:
        """What `contracts.registry.build` takes beside the contract's name."""
        return {
            "minimum": self.minimum,
            "unit": self.unit,
            "marks": self.marks,
            "lookback": self.lookback,
            "window": self.window,
            "lifetimes": {name: each.seconds for name, each in self.lifetimes.items()} or None,
        }

    def lifetime(self, name: str) -> Lifetime | None:
        """The lifetime that the vendor calls `name`."""
        return self.lifetimes.get(name)

    @property
    def default_lifetime(self) -> str | None:
        """What holds where the client says nothing."""
        return next(iter(self.lifetimes), None)

    def rent(self, day: date) -> Decimal | None:
        """Dollars for a million tokens held for an hour, on `day`."""
        for rent in self.rents:
            if rent.until is None or day <= rent.until:
                return rent.price
        return None


@dataclass(frozen=True, slots=True)
class _Row:
    vendor: str
    names: Sequence[str]
    source: Source
    fields: Mapping[str, Any]

    def weight(self, model: str) -> tuple[int, bool] | None:
        fitting = [weight(pattern) for pattern in self.names if matches(pattern, model)]
        return max(fitting, default=None)


class Rules:
    """Rows of rules. For each field, the row whose name fits a model most closely holds.

    Any thread may ask.
    """

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._rows = rows
        self._profiles: dict[tuple[str, str], Profile] = {}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Rules in the format of `rules.toml`, which explains itself."""
        rows = tomllib.loads(text, parse_float=Decimal)["rules"]
        return cls([_row(dict(row)) for row in rows])

    @classmethod
    @cache
    def packaged(cls) -> Self:
        """The rules that ship with headstart, read once."""
        return cls.parse((files("headstart.ledger") / "rules.toml").read_text("utf-8"))

    def profile(self, vendor: str, model: str) -> Profile:
        """The numbers of `model`, as clients name it. Raises KeyError for an unknown vendor."""
        key = vendor, model
        profile = self._profiles.get(key)
        if profile is None:
            if len(self._profiles) >= MOST_PROFILES:
                self._profiles.clear()
            profile = self._profiles[key] = self._resolve(vendor, model)
        return profile

    def vendor(self, contract: str) -> str | None:
        """Whose contract this is."""
        for row in self._rows:
            if row.fields.get("contract") == contract:
                return row.vendor
        return None

    def names(self, vendor: str) -> list[str]:
        """The models of `vendor` that are named exactly, in alphabetical order."""
        rows = (row for row in self._rows if row.vendor == vendor)
        return sorted({name for row in rows for name in row.names if not name.endswith("*")})

    @property
    def vendors(self) -> list[str]:
        """In alphabetical order."""
        return sorted({row.vendor for row in self._rows})

    def _resolve(self, vendor: str, model: str) -> Profile:
        weighed = [
            (fit, row)
            for row in self._rows
            if row.vendor == vendor and (fit := row.weight(model)) is not None
        ]
        if not weighed:
            raise KeyError(f"no rules for {vendor}")
        weighed.sort(key=lambda each: each[0])
        fields: dict[str, Any] = {}
        sources: dict[str, Source] = {}
        for _, row in weighed:
            fields.update(row.fields)
            sources.update(dict.fromkeys(row.fields, row.source))
        return Profile(vendor, **fields, sources=sources)


def _row(fields: dict[str, Any]) -> _Row:
    vendor, names = fields.pop("vendor"), fields.pop("names")
    source = Source(fields.pop("source"), fields.pop("date"))
    fields.pop("note", None)
    if "lifetimes" in fields:
        fields["lifetimes"] = {
            name: Lifetime(each["seconds"], Decimal(each["write"]))
            for name, each in fields["lifetimes"].items()
        }
    if "read" in fields:
        fields["read"] = Decimal(fields["read"])
    if "rents" in fields:
        fields["rents"] = tuple(
            Rent(Decimal(each["price"]), each.get("until")) for each in fields["rents"]
        )
    if fields.get("explicit_minimum") == 0:
        fields["explicit_minimum"] = None
    return _Row(vendor, names, source, fields)
