"""What a probe may spend, will spend and has spent: tokens, and dollars where they are known."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from headstart.insight.probe.script import Usage
from headstart.insight.wire import EndpointError
from headstart.ledger import Account, Price, PriceBook, PriceError, Profile, Rules, bill


@dataclass(frozen=True, slots=True)
class Rate:
    """One model's prices and cache rules on one day."""

    name: str
    source: str
    price: Price
    profile: Profile
    day: datetime

    def dollars(self, usage: Usage) -> Decimal | None:
        """The bill of one answer; None where part of it has no known price."""
        prompt = usage.input or 0
        read = min(usage.cached or 0, prompt)
        account = Account(
            prompt, read, usage.output or 0, self._writes(min(usage.written or 0, prompt - read))
        )
        found = bill(account, self.price.rates(prompt), self.profile, self.day.date())
        return None if found is None else found.paid

    def most(self, tokens: int, output: int) -> Decimal | None:
        """The bill if nothing is reused and all is written."""
        lifetime = self.profile.default_lifetime
        dear = lifetime is not None and self.profile.lifetimes[lifetime].write > 1
        return self.dollars(Usage(tokens, 0, tokens if dear else 0, output))

    def _writes(self, tokens: int) -> Mapping[str, int]:
        lifetime = self.profile.default_lifetime
        return {lifetime: tokens} if tokens and lifetime is not None else {}


def rate(vendor: str, model: str, *, prices: Path | None, day: datetime) -> Rate | None:
    """The rate of `model`; None where its price is unknown. Raises EndpointError for a bad file."""
    try:
        profile = Rules.packaged().profile(vendor, model)
        found = PriceBook.standard(prices).find(vendor, model)
    except (PriceError, KeyError) as error:
        raise EndpointError(str(error)) from None
    price = None if found is None else found.at(day)
    if found is None or price is None:
        return None
    return Rate(f"{vendor}/{model}", found.source, price, profile, day)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None is no limit."""

    tokens: int | None
    dollars: Decimal | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What so many calls take at most: nothing reused, every answer as long as it may be."""

    calls: int
    tokens: int
    dollars: Decimal | None


def plan(calls: int, prompt: int, output: int, rate: Rate | None) -> Plan:
    """`prompt` and `output`: tokens of one call."""
    each = None if rate is None else rate.most(prompt, output)
    return Plan(calls, calls * (prompt + output), None if each is None else calls * each)


def calls_within(budget: Budget, one: Plan) -> int:
    """How many calls like `one` a budget covers; one that limits neither covers none."""
    tokens, dollars = budget.tokens, budget.dollars
    counts = [] if tokens is None else [tokens // one.tokens]
    if dollars is not None and one.dollars:
        counts.append(int(dollars / one.dollars))
    return min(counts, default=0)


class Purse:
    """Counts what answers cost, against a budget."""

    def __init__(self, budget: Budget, rate: Rate | None, expected: Usage) -> None:
        """`expected`: of a call, until answers tell; it stands for what they don't."""
        self._budget = budget
        self._rate = rate
        self._expected = expected
        self.calls = 0
        self.tokens = 0
        self.told = True
        """All answers told what they took; else it is what was expected of them."""
        self.dollars: Decimal | None = None if rate is None else Decimal(0)

    def covers(self, plan: Plan) -> bool:
        """Whether the budget has room for it, on top of what is spent."""
        tokens, dollars = self._budget.tokens, self._budget.dollars
        if tokens is not None and self.tokens + plan.tokens > tokens:
            return False
        if dollars is None or self.dollars is None or plan.dollars is None:
            return True
        return self.dollars + plan.dollars <= dollars

    @property
    def has_room(self) -> bool:
        """Whether one more call like the last fits."""
        usage = self._expected
        return self.covers(plan(1, usage.input or 0, usage.output or 0, self._rate))

    def pay(self, usage: Usage) -> None:
        """An answer has come."""
        self.told = self.told and None not in (usage.input, usage.output)
        usage = self._expected.then(usage)
        self.calls += 1
        self.tokens += (usage.input or 0) + (usage.output or 0)
        self._expected = Usage(usage.input, output=usage.output)
        if self._rate is not None and self.dollars is not None:
            paid = self._rate.dollars(usage)
            self.dollars = None if paid is None else self.dollars + paid
