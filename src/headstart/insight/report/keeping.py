"""Which way of keeping a prefix costs least: leave it, a longer lifetime, or keep it warm.

All prices are times the input price where no price is known. With w the price of a write, r of a
read, over all gaps g between uses of a prefix of P tokens:

    lifetime L            w (P + tokens used after more than L) + r (tokens used within L)
    lifetime L, warmed    w P + r (all tokens used again) + r P for each warming: ceil(g / L) - 1
    held (Gemini)         P + r (all tokens used again) + rent P for all hours in between
    no cache              P + all tokens used again
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from headstart.insight.plan.money import Offer
from headstart.insight.report.gaps import Idle
from headstart.ledger import Rates

MILLION, HOUR = 1_000_000, 3600
NOTHING = "no cache"


@dataclass(frozen=True, slots=True)
class Option:
    """One way, and what it would have cost for the recorded uses."""

    name: str
    cost: Decimal
    """Dollars, or tokens at the input price."""
    within: float | None
    """Share of the gaps that it outlives."""
    pings: int
    how: str
    """The sum, with its numbers."""


@dataclass(frozen=True, slots=True)
class Choice:
    """All ways of keeping one prefix, the cheapest first."""

    idle: Idle
    options: tuple[Option, ...]
    dollars: bool

    @property
    def best(self) -> Option:
        """What costs least."""
        return self.options[0]

    @property
    def default(self) -> Option:
        """What happens where nobody chooses: the vendor's first lifetime."""
        names = list(self.idle.profile.lifetimes)
        return min(
            (each for each in self.options if each.name in names),
            key=lambda each: names.index(each.name),
        )


def choose(idle: Idle, rates: Rates | None, moment: datetime) -> Choice | None:
    """None where a vendor leaves no choice, or where nobody knows what a read costs."""
    profile = idle.profile
    plain = Rates(Decimal(1), Decimal(1)) if rates is None else rates
    if plain.read is None and profile.read is None:
        return None
    if len(profile.lifetimes) < 2 and all(each.write == 1 for each in profile.lifetimes.values()):
        return None
    scale = Decimal(1) if rates is None else Decimal(MILLION)
    options = [
        Option(name, cost / scale, share, pings, how)
        for name, cost, share, pings, how in _options(idle, plain, moment, rates is None)
    ]
    options.sort(key=lambda each: (each.cost, each.pings, each.name))
    return Choice(idle, tuple(options), rates is not None)


_Row = tuple[str, Decimal, float | None, int, str]


def _options(idle: Idle, rates: Rates, moment: datetime, multiples: bool) -> Iterator[_Row]:
    unit = "" if multiples else "$"
    per = "" if multiples else "/M"
    day = moment.date()
    again = idle.tokens
    for name in idle.profile.lifetimes:
        offer = Offer(name, rates, idle.profile, name, day, "")
        write, read = offer.write, offer.read
        rent = idle.profile.rent(day) if name == "explicit" else None
        if name == "explicit":
            least = idle.profile.explicit_minimum
            if multiples or rent is None or least is None or again < least * idle.gaps:
                continue  # No such cache for it, or nobody knows its rent.
            cost = write * idle.first + read * again
            cost += rent * Decimal(idle.token_seconds) / HOUR
            hours = idle.token_seconds / HOUR / MILLION
            how = (
                f"{unit}{write:f}{per} × {idle.first:,} + {unit}{read:f}{per} × {again:,}"
                f" + rent {unit}{rent:f}{per}/h × {hours:,.3f} M token-hours"
            )
            yield "held explicitly", cost, 1.0, 0, how
            continue
        kept = idle.kept[name]
        lost = again - kept
        share = idle.within[name] / idle.gaps
        yield (
            name,
            write * (idle.first + lost) + read * kept,
            share,
            0,
            f"{unit}{write:f}{per} × {idle.first + lost:,} + {unit}{read:f}{per} × {kept:,}",
        )
        if lost:
            pinged = idle.pinged[name]
            yield (
                f"{name}, kept warm",
                write * idle.first + read * (again + pinged),
                1.0,
                idle.pings[name],
                f"{unit}{write:f}{per} × {idle.first:,} + {unit}{read:f}{per} × {again + pinged:,}",
            )
    yield (
        NOTHING,
        rates.input * (idle.first + again),
        None,
        0,
        f"{unit}{rates.input:f}{per} × {idle.first + again:,}",
    )
