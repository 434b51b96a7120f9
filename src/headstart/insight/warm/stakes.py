"""What calls cost, what uses save, and how many calls that pays for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Literal

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.money import MILLION, Offer, named_offer, plain_offer
from headstart.insight.plan.money import NoPrice as Unknown
from headstart.insight.warm.dialects.dialect import Dialect, Target
from headstart.insight.warm.errors import NoPrice, WarmError
from headstart.ledger import Account, PriceBook, Rates, Rules, bill

Verdict = Literal["pays", "needless", "too dear"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of a prompt's traffic."""

    uses: int
    gaps: Sequence[float] = ()
    """Seconds between two uses, as observed or guessed; nothing is known of when they come."""
    worth: Decimal = Decimal(0)
    """What a use that finds the prefix is worth besides what it saves, in the unit of money."""

    @property
    def span(self) -> float | None:
        """Seconds until the last use."""
        return self.uses * sum(self.gaps) / len(self.gaps) if self.gaps else None

    def misses(self, seconds: float) -> Decimal:
        """Uses that would find nothing if nobody warmed: the first, and who comes too late."""
        return 1 + (self.uses - 1) * Decimal(self.late(seconds)) / max(1, len(self.gaps))

    def late(self, seconds: float) -> int:
        """Gaps that are longer than a prefix lives; where none is known, every use is late."""
        return sum(gap > seconds for gap in self.gaps) if self.gaps else 1


@dataclass(frozen=True, slots=True)
class Stakes:
    """Of one prompt, in dollars, or in tokens of input where nobody knows a price."""

    first: Decimal
    """The call that writes."""
    again: Decimal
    """Each that keeps."""
    saved: Decimal
    """By one use that finds the prefix, against one that has to write it again."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Whether it pays."""

    stakes: Stakes
    value: Decimal
    """What all uses together may cost: break-even."""
    calls: int | None
    """After the first, until the last use; None where nobody says when that is."""
    pays: int
    """Calls after the first that the value pays for."""
    verdict: Verdict


def stakes(dialect: Dialect, target: Target, offer: Offer, prefix: int, rest: int) -> Stakes:
    """Of a prompt with `rest` tokens behind its prefix. Raises NoPrice."""
    first, again = dialect.bills(target, prefix, rest)
    written = {} if offer.lifetime is None else {offer.lifetime: prefix}
    gone, there = Account(prefix, 0, written=written), Account(prefix, prefix)
    return Stakes(
        cost(first, offer),
        cost(again, offer),
        max(Decimal(0), cost(gone, offer) - cost(there, offer)),
    )


def outlook(found: Stakes, expected: Expected, seconds: float, interval: float) -> Outlook:
    """With calls every `interval` seconds of a prefix that lives `seconds`."""
    value = expected.misses(seconds) * (found.saved + expected.worth)
    calls = calls_until(expected, seconds, interval)
    left = value - found.first
    pays = max(0, int(left / found.again)) if found.again else MOST_CALLS
    needed = 1 if calls is None else calls
    verdict: Verdict = "pays"
    if not expected.late(seconds):
        verdict = "needless"
    elif left < 0 or needed > pays:
        verdict = "too dear"
    return Outlook(found, value, calls, pays, verdict)


def calls_until(expected: Expected, seconds: float, interval: float) -> int | None:
    """Calls after the first until the last use; None where nobody says when that is."""
    if expected.span is None:
        return None
    return ceil(max(0.0, expected.span - seconds) / interval)


MOST_CALLS = 10**9
"""That calls which cost nothing may be."""


def cost(account: Account, offer: Offer) -> Decimal:
    """Raises NoPrice."""
    found = bill(account, offer.rates, offer.profile, offer.day)
    if found is None:
        raise NoPrice(f"What {offer.name} takes for reads, writes or storage is unknown.")
    return found.paid if offer.dollars else found.paid * MILLION


def offer_of(
    vendor: str,
    model: str,
    *,
    lifetime: str | None,
    seconds: float,
    tokens: int,
    book: PriceBook,
    rules: Rules,
    moment: datetime,
) -> Offer:
    """Prices where a list has them, else the rules' multipliers. Raises NoPrice, WarmError.

    Where a vendor has neither, nobody bills, and what counts is tokens that are computed.
    """
    try:
        return named_offer(f"{vendor}/{model}", book, rules, moment, lifetime, tokens)
    except PlanError as error:
        raise WarmError(str(error)) from None
    except Unknown as unknown:
        profile, day = rules.profile(vendor, model), moment.date()
        if not profile.lifetimes:
            one, nothing = Decimal(1), Decimal(0)
            return plain_offer(
                write=one,
                read=nothing,
                rent=nothing,
                seconds=seconds,
                input_price=None,
                day=day,
                given=True,
            )
        if profile.read is None or profile.rents:
            raise NoPrice(str(unknown)) from None
        rates = Rates(Decimal(1), Decimal(OUTPUT))
        chosen = lifetime or profile.default_lifetime
        return Offer(
            f"{vendor}/{model}",
            rates,
            profile,
            chosen,
            day,
            "the rules' multipliers",
            dollars=False,
        )


OUTPUT = 5
"""Times the input price, where only the rules' multipliers are known: as most vendors have it."""
