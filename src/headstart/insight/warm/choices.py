"""Each lifetime that a vendor offers, kept by calls or left alone: what it costs in all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from headstart.insight.plan.money import Offer
from headstart.insight.warm.dialects.dialect import Dialect, Target
from headstart.insight.warm.lives import margin_of
from headstart.insight.warm.stakes import Expected, calls_until, cost, stakes
from headstart.ledger import Account


@dataclass(frozen=True, slots=True)
class Choice:
    """What a prompt's prefix costs in all, calls and uses; the rest of each use costs the same."""

    lifetime: str
    calls: int
    """That keep it; 0 leaves it to its uses."""
    cost: Decimal


def choices(
    dialect: Dialect, target: Target, offer: Offer, expected: Expected, prefix: int, rest: int
) -> Sequence[Choice]:
    """The cheapest first; nothing where nobody says when uses come. Raises NoPrice."""
    found = []
    for name in dialect.offered(target.profile):
        lifetime = target.profile.lifetime(name)
        if lifetime is None:
            continue
        seconds = target.seconds if name == target.lifetime else lifetime.seconds
        aim = replace(target, lifetime=name, seconds=seconds, interval=seconds - margin_of(seconds))
        priced = replace(offer, lifetime=name)
        calls = calls_until(expected, seconds, aim.interval)
        if calls is None:
            return ()
        read = cost(Account(prefix, prefix), priced)
        write = cost(Account(prefix, 0, written={name: prefix}), priced)
        misses = expected.misses(seconds)
        found.append(Choice(name, 0, misses * write + (expected.uses - misses) * read))
        each = stakes(dialect, aim, priced, prefix, rest)
        kept = each.first + calls * each.again + expected.uses * read
        found.append(Choice(name, 1 + calls, kept))
    return sorted(found, key=lambda choice: choice.cost)
