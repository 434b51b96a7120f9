"""What a model's tokens cost, as a list of prices that hold at certain times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars for a million tokens."""

    input: Decimal
    output: Decimal
    read: Decimal | None = None
    """None leaves it to the rules' multiplier, as a lifetime that `written` lacks does."""
    written: Mapping[str, Decimal] = field(default_factory=dict)
    """By lifetime."""


@dataclass(frozen=True, slots=True)
class Price:
    """One price of a model, and when it holds."""

    tiers: Sequence[tuple[int, Rates]]
    """(tokens, rates), ascending: a prompt of more than so many tokens is billed whole at them."""
    since: date | None = None
    """The first day, in UTC."""
    hours: tuple[time, time] | None = None
    """From and until, every day, in UTC; it may span midnight."""

    def holds(self, moment: datetime) -> bool:
        """Whether it is the price of requests that begin at `moment`, if no later one is."""
        moment = moment.astimezone(UTC)
        if self.since is not None and moment.date() < self.since:
            return False
        if self.hours is None:
            return True
        (begin, end), now = self.hours, moment.time()
        return begin <= now < end if begin <= end else now >= begin or now < end

    def rates(self, prompt: int) -> Rates:
        """What holds for a prompt of so many tokens."""
        fitting = [rates for above, rates in self.tiers if prompt > above]
        return fitting[-1] if fitting else self.tiers[0][1]


@dataclass(frozen=True, slots=True)
class Prices:
    """All prices of one model that one source knows; the last that holds counts."""

    prices: Sequence[Price]
    source: str
    """Where they come from, and of which day, for people."""

    def at(self, moment: datetime) -> Price | None:
        """The price of requests that begin at `moment`."""
        for price in reversed(self.prices):
            if price.holds(moment):
                return price
        return None


class PriceSource(Protocol):
    """Something that knows prices."""

    def find(self, vendor: str, model: str) -> Prices | None:
        """What it knows of `model`; None is nothing. Never raises for a name."""
        ...
