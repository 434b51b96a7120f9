"""What a plan that is only looked at would meet: no key, or an end before its prompts'."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from headstart.insight.warm.driver import Purse
from headstart.insight.warm.stakes import MOST_CALLS
from headstart.insight.warm.warming import Warming


@dataclass(frozen=True, slots=True)
class Course:
    """The calls of one prompt, as far as they can be foreseen."""

    wanted: int
    """After the first, until its last use or its break-even."""
    within: int
    """Of them, those before the time that was asked for is over."""


def course(warming: Warming) -> Course:
    """Of a prompt that hasn't begun."""
    if warming.ended is not None:
        return Course(0, 0)
    seen = warming.outlook
    wanted = seen.pays if seen.calls is None else seen.calls
    if warming.limit is None:
        return Course(wanted, wanted)
    return Course(wanted, min(wanted, int(warming.limit / warming.target.interval)))


def cut_short(warmings: Sequence[Warming]) -> Iterator[str]:
    """Prompts whose calls end with the time that was asked for."""
    for each in warmings:
        ahead = course(each)
        if ahead.within < ahead.wanted:
            until = "break-even" if each.outlook.calls is None else "the last use"
            most = "any number" if ahead.wanted >= MOST_CALLS else f"{1 + ahead.wanted:,}"
            yield (
                f"{each.name}: --for leaves time for {1 + ahead.within:,} of {most} calls until"
                f" {until}"
            )


def beyond(warmings: Sequence[Warming], purse: Purse) -> Iterator[str]:
    """What all calls together would take beyond a budget."""
    dollars, tokens = Decimal(0), 0
    for each in warmings:
        if each.ended is not None:
            continue
        again = course(each).within
        dollars += each.outlook.stakes.first + again * each.outlook.stakes.again
        bills = each.dialect.bills(each.target, each.prefix, each.rest)
        first, later = (bill.prompt + bill.output for bill in bills)
        tokens += first + again * later
    if purse.dollars is not None and dollars > purse.dollars:
        yield f"its calls would take ${dollars:.6f}: --budget-usd would end it before"
    if purse.tokens is not None and tokens > purse.tokens:
        yield f"its calls would take {tokens:,} tokens: --budget-tokens would end it before"
