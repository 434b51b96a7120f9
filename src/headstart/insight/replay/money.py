"""What a stream would cost under a vendor's prices, if that vendor's cache hit what ours does.

An estimate: a trace of blocks doesn't tell where a client set markers, nor what a vendor's machines
keep. Taken: reads are cut to the vendor's unit, prompts below its minimum are plain, and where
writes have a price, all of a prompt that is not read is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from headstart.insight.replay.lines import TraceError
from headstart.ledger import Account, Price, PriceBook, PriceError, Profile, Rates, Rules, bill


@dataclass(frozen=True, slots=True)
class Money:
    """Dollars for a stream."""

    paid: Decimal
    plain: Decimal
    """Without a cache."""

    @property
    def saved(self) -> Decimal:
        """Negative where writes cost more than reads save."""
        return self.plain - self.paid


@dataclass(frozen=True, slots=True)
class Offer:
    """A vendor's prices and rules for one model on one day."""

    name: str
    source: str
    price: Price
    profile: Profile
    lifetime: str | None
    day: datetime

    @property
    def ttl(self) -> float | None:
        """Seconds that what is written lives without use; None where the vendor doesn't say."""
        found = None if self.lifetime is None else self.profile.lifetime(self.lifetime)
        return None if found is None else found.seconds


def offer(name: str, *, prices: Path | None, lifetime: str | None, day: datetime) -> Offer | None:
    """`name`: VENDOR/MODEL. None where its price is unknown. Raises TraceError."""
    vendor, slash, model = name.partition("/")
    if not (vendor and slash and model):
        raise TraceError(f"'{name}' is not VENDOR/MODEL, such as anthropic/claude-sonnet-4-5")
    try:
        profile = Rules.packaged().profile(vendor, model)
        book = PriceBook.standard(prices)
    except KeyError:
        known = ", ".join(Rules.packaged().vendors)
        raise TraceError(f"no rules for the vendor '{vendor}': there are {known}") from None
    except PriceError as error:
        raise TraceError(str(error)) from None
    if lifetime is not None and profile.lifetime(lifetime) is None:
        known = ", ".join(profile.lifetimes) or "none"
        raise TraceError(f"{name} has no lifetime '{lifetime}': there are {known}")
    found = book.find(vendor, model)
    price = None if found is None else found.at(day)
    if found is None or price is None:
        return None
    return Offer(name, found.source, price, profile, lifetime or profile.default_lifetime, day)


class Bills:
    """Accounts of a stream, summed up by the rates that hold for prompts of their length."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._sums: dict[int, tuple[Rates, list[int]]] = {}

    def add(self, prompt: int, hit: int, output: int) -> None:
        """One request."""
        profile = self._offer.profile
        rates = self._offer.price.rates(prompt)
        read = hit // profile.unit * profile.unit if prompt >= profile.minimum else 0
        writes = self._offer.lifetime is not None and prompt >= profile.minimum
        sums = self._sums.setdefault(id(rates), (rates, [0, 0, 0, 0]))[1]
        for at, tokens in enumerate((prompt, read, prompt - read if writes else 0, output)):
            sums[at] += tokens

    def total(self) -> Money | None:
        """None where it holds something whose price is unknown."""
        paid = plain = Decimal(0)
        for rates, (prompt, read, written, output) in self._sums.values():
            lifetimes: Mapping[str, int] = (
                {} if self._offer.lifetime is None else {self._offer.lifetime: written}
            )
            account = Account(prompt, read, output, lifetimes)
            found = bill(account, rates, self._offer.profile, self._offer.day.date())
            if found is None:
                return None
            paid += found.paid
            plain += found.plain
        return Money(paid, plain)
