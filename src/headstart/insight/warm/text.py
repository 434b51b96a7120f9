"""What was warmed, for people."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

from headstart.insight.bench.table import Table, plain
from headstart.insight.warm.dialects.dialect import Heard
from headstart.insight.warm.render import Report, kinds
from headstart.insight.warm.stakes import MOST_CALLS
from headstart.insight.warm.warming import Warming

LEGEND = "m measured: the answers' own counters   d derived   e estimated"


def as_text(report: Report) -> str:
    """What is expected of each prompt, what was sent, and what was found."""
    return "\n".join(_lines(report))


def told(warming: Warming, at: float, what: Heard | Exception, *, dollars: bool) -> str:
    """A line about one call."""
    clock = datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")
    if isinstance(what, Exception):
        again = "" if warming.ended else f"; again in {warming.due - at:.0f} s"
        return f"{clock} {warming.name}: {what}{again}"
    account, cost = what.account, warming.sent[-1].cost
    there = "?" if what.found is None else f"{what.found:,}"
    parts = [f"{there} of {warming.prefix:,} tokens were there"]
    if written := sum(account.written.values()):
        parts.append(f"{written:,} written")
    if account.token_seconds:
        parts.append(f"{account.token_seconds / 3600:,.0f} token-hours of storage")
    parts.append(_amount(cost, dollars=dollars))
    parts.append(warming.ended or f"next in {warming.due - at:.0f} s")
    return f"{clock} {warming.name}: {', '.join(parts)}"


def _lines(report: Report) -> Iterator[str]:
    plan, offer = report.plan, report.warmings[0].offer
    yield f"{plan.model} at {plan.endpoint} ({plan.dialect}); prices: {offer.name}, {offer.source}"
    yield ""
    yield plain(_outlooks(report))
    if any(each.choices for each in report.warmings):
        yield ""
        yield plain(_choices(report))
    if not report.dry:
        yield ""
        yield plain(_sent(report))
    made = [each for each in report.warmings if each.resource and not each.target.resource]
    yield from (f"{each.name} is {each.resource} now." for each in made)
    yield ""
    yield LEGEND
    yield from report.notes
    yield from (f"! {finding}" for finding in report.findings)
    yield from (f"> {line}" for line in report.advice)


def _outlooks(report: Report) -> Table:
    unit = "" if report.dollars else ", in tokens at the input price"
    rows = []
    for each in report.warmings:
        seen, known = each.outlook, kinds(each)
        size, price = known["prefix_tokens"][0], known["first_call"][0]
        rows.append(
            (
                each.name,
                f"{each.prefix:,} ({size})",
                f"{each.target.seconds:g} s",
                f"{each.target.interval:g} s",
                f"{_amount(seen.stakes.first, dollars=report.dollars)} ({price})",
                f"{_amount(seen.stakes.again, dollars=report.dollars)} ({price})",
                f"{_amount(seen.stakes.saved, dollars=report.dollars)} ({price})",
                "?" if seen.calls is None else f"{seen.calls:,}",
                "any" if seen.pays >= MOST_CALLS else f"{seen.pays:,}",
                seen.verdict,
            )
        )
    columns = (
        "prompt",
        "tokens kept",
        "lives",
        "a call every",
        "first call",
        "later call",
        "a use saves",
        "calls needed (e)",
        "that pay (e)",
        "it",
    )
    return Table(f"Expected{unit}", columns, tuple(rows))


def _choices(report: Report) -> Table:
    rows = tuple(
        (
            each.name if first else "",
            choice.lifetime,
            f"calls: {choice.calls:,}" if choice.calls else "left alone",
            _amount(choice.cost, dollars=report.dollars),
        )
        for each in report.warmings
        for first, choice in zip((True,) + (False,) * len(each.choices), each.choices, strict=False)
    )
    title = "Ways to have the prefix until the last use, the cheapest first (e)"
    return Table(title, ("prompt", "lifetime", "kept by", "in all"), rows)


def _sent(report: Report) -> Table:
    rows = tuple(
        (
            each.name,
            f"{len(each.sent):,}",
            f"{sum(sent.account.read for sent in each.sent):,}",
            f"{sum(sum(sent.account.written.values()) for sent in each.sent):,}",
            f"{sum(sent.account.fresh for sent in each.sent):,}",
            _amount(each.spent, dollars=report.dollars),
            each.ended or "",
        )
        for each in report.warmings
    )
    columns = (
        "prompt",
        "calls (m)",
        "read (m)",
        "written (m)",
        "neither (m)",
        "spent (d)",
        "ended",
    )
    return Table("Sent", columns, rows)


def _amount(amount: Decimal, *, dollars: bool) -> str:
    if not dollars:
        return f"{amount.to_integral_value(ROUND_HALF_UP):,}"
    rounded = amount.quantize(Decimal("0.000001"), ROUND_HALF_UP)
    return f"${rounded.normalize():f}" if rounded else "$0"
