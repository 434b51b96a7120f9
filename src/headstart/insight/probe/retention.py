"""How long and how much an endpoint keeps: one script, and its report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headstart.insight.plan.figure import Figure, Unit
from headstart.insight.probe.capacity import Capacity, capacity
from headstart.insight.probe.cost import Purse
from headstart.insight.probe.findings import spent
from headstart.insight.probe.lifetime import Lifetime, lifetime
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.remarks import Remark
from headstart.insight.probe.report import Number, Part, Report, Setup
from headstart.insight.probe.script import Prompt, Script, Spent, ask
from headstart.insight.probe.signs import A_TENTH
from headstart.insight.probe.verdict import (
    AT_LEAST,
    CAPACITY_FOUND,
    NO_REUSE,
    UNCOUNTED,
    Verdict,
)

FEW_PREFIXES = 12


@dataclass(frozen=True, slots=True)
class Retention:
    """What was found; None was not looked for."""

    reuses: bool | None
    """Of a prefix that is read back at once; None: nothing is counted."""
    lifetime: Lifetime | None = None
    capacity: Capacity | None = None


def retention(
    unseen: Unseen, clock: Callable[[], str], most_wait: float, sent: Sequence[Prompt] = ()
) -> Script[Retention]:
    """Lifetime first, in a cache that this hasn't filled yet; 0 seconds of waiting leave it out.

    `sent`: what the probe has sent just before.
    """
    prompt = unseen.layout().fill(clock)
    try:
        unseen_usage = (yield from ask(prompt, "writing")).usage
        again = yield from ask(prompt, "reading back")
    except Spent:
        return Retention(None)
    if again.usage.cached is None or not again.usage.input:
        return Retention(None)
    if again.usage.cached - (unseen_usage.cached or 0) < A_TENTH * again.usage.input:
        return Retention(False)
    rest = again.usage.input - again.usage.cached
    lasts = (yield from lifetime(unseen, clock, most_wait, rest)) if most_wait else None
    return Retention(True, lasts, (yield from capacity(unseen, clock, [*sent, prompt], rest)))


def retention_report(found: Retention, setup: Setup, purse: Purse) -> Report:
    """What was found in numbers."""
    parts = []
    if found.capacity is not None:
        parts.append(Part("How much", list(_capacity(found.capacity))))
    if found.lifetime is not None:
        parts.append(Part("How long without use", list(_lifetime(found.lifetime))))
    return Report(
        setup,
        _verdict(found),
        list(_remarks(found)),
        [*parts, spent(purse)],
        list(_notes(found)),
        (),
    )


def _verdict(found: Retention) -> Verdict:
    if found.reuses is None:
        return UNCOUNTED
    if not found.reuses or found.capacity is None:
        return NO_REUSE
    return AT_LEAST if found.capacity.high is None else CAPACITY_FOUND


def _capacity(found: Capacity) -> Iterator[Number]:
    how = f"{found.prefixes} distinct prefixes"
    yield _number("capacity_low", "there at once", found.low, "tokens", how)
    if found.high is not None:
        yield _number("capacity_high", "something gone", found.high, "tokens", "")
        figure = Figure("capacity", "capacity", found.estimate, "tokens", "estimated")
        yield Number(figure, found.low, found.high)


def _lifetime(found: Lifetime) -> Iterator[Number]:
    yield _number("lifetime_low", "longest gap survived", found.low, "seconds", "")
    if found.high is not None:
        yield _number("lifetime_high", "shortest gap not survived", found.high, "seconds", "")


def _remarks(found: Retention) -> Iterator[Remark]:
    lasts = found.lifetime
    if lasts is None:
        return
    if lasts.high is None:
        yield Remark("no_end_of_life", f"No prefix was gone after {lasts.low:.0f} s without use.")
    elif lasts.sliding is None:
        yield Remark("sliding_unknown", "Whether reading begins a new life was not found out.")
    elif lasts.sliding:
        yield Remark("sliding", "Reading a prefix begins a new life.")
    else:
        yield Remark("fixed", "A life ends at its time, whether the prefix was read or not.")


def _notes(found: Retention) -> Iterator[str]:
    if found.capacity is not None and found.capacity.high is None:
        yield "The budget ended before anything was gone."
    if found.capacity is not None and found.capacity.prefixes < FEW_PREFIXES:
        yield "Few prefixes fit: with a shorter --prefix the ends come closer."
    if found.lifetime is not None and found.lifetime.high is not None:
        yield "A prefix may also be gone early because others needed its room."


def _number(key: str, label: str, value: float, unit: Unit, how: str) -> Number:
    return Number(Figure(key, label, value, unit, "measured", how))
