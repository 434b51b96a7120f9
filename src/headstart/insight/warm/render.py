"""What was warmed, for programs: JSON with a schema version, CSV with a line for each prompt."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from headstart.insight.warm.plan_file import Plan
from headstart.insight.warm.warming import Sent, Warming
from headstart.ledger.money import text

SCHEMA_VERSION = 1
DECIMALS = Decimal("1e-12")
COLUMNS = (
    "name",
    "ended",
    "lifetime_seconds",
    "interval_seconds",
    "prefix_tokens",
    "value",
    "first_call",
    "later_call",
    "saved_by_use",
    "calls_needed",
    "calls_that_pay",
    "calls",
    "read_tokens",
    "written_tokens",
    "fresh_tokens",
    "spent",
)


@dataclass(frozen=True, slots=True)
class Report:
    """A plan and what became of it."""

    plan: Plan
    warmings: Sequence[Warming]
    dry: bool
    obstacles: Sequence[str] = ()
    """Findings on a plan that is only looked at: why it couldn't be carried out as it is."""
    notes: Sequence[str] = ()

    @property
    def dollars(self) -> bool:
        """Whether money is; else it is tokens of input at the plain price."""
        return self.warmings[0].offer.dollars

    @property
    def unit(self) -> str:
        """Of money."""
        return "USD" if self.dollars else "input tokens"

    @property
    def findings(self) -> list[str]:
        """Of all prompts."""
        found = [f"{each.name}: {finding}" for each in self.warmings for finding in each.findings]
        found += [line for each in self.warmings for line in self._short(each)]
        return [*found, *self.obstacles]

    @property
    def advice(self) -> list[str]:
        """Where another lifetime, or none of these calls, is cheaper than what the plan asks."""
        return [line for each in self.warmings for line in _advice(each)]

    def _short(self, warming: Warming) -> Iterator[str]:
        """What a call would find out."""
        minimum = warming.target.profile.minimum
        if self.dry and warming.prefix < minimum:
            few = f"some {warming.prefix:,} tokens"
            yield f"{warming.name}: {few} are below the minimum, {minimum:,}"


def as_dict(report: Report) -> dict[str, Any]:
    """Money is a string, exact to a trillionth; unknown is null."""
    plan, offer = report.plan, report.warmings[0].offer
    return {
        "schema_version": SCHEMA_VERSION,
        "endpoint": plan.endpoint,
        "dialect": plan.dialect,
        "model": plan.model,
        "vendor": plan.vendor,
        "dry_run": report.dry,
        "unit": report.unit,
        "prices": {"name": offer.name, "source": offer.source, "day": offer.day.isoformat()},
        "prompts": [_prompt(each) for each in report.warmings],
        "spent": _money(sum((each.spent for each in report.warmings), Decimal(0))),
        "findings": report.findings,
        "advice": report.advice,
        "notes": list(report.notes),
    }


def _advice(warming: Warming) -> Iterator[str]:
    best = next(iter(warming.choices), None)
    if best is None or (best.calls and best.lifetime == warming.target.lifetime):
        return
    way = "kept by calls" if best.calls else "left alone"
    yield f"{warming.name}: a lifetime of {best.lifetime}, {way}, is cheapest"


def as_json(report: Report) -> str:
    """The same run is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False)


def as_csv(report: Report) -> str:
    """Kinds of numbers are in the header's names; those of estimates, for all if for one."""
    known = [kinds(each) for each in report.warmings]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        f"{name} ({max((each[name] for each in known), key=ORDER.index)})"
        if name in known[0]
        else name
        for name in COLUMNS
    )
    for warming in report.warmings:
        row = figures(warming)
        writer.writerow(row[name] for name in COLUMNS)
    return file.getvalue()


ORDER = ("derived", "measured", "estimated")


def figures(warming: Warming) -> dict[str, Any]:
    """The numbers of one prompt."""
    seen, sent = warming.outlook, warming.sent
    return {
        "name": warming.name,
        "ended": warming.ended,
        "lifetime_seconds": warming.target.seconds,
        "interval_seconds": warming.target.interval,
        "prefix_tokens": warming.prefix,
        "value": _money(seen.value),
        "first_call": _money(seen.stakes.first),
        "later_call": _money(seen.stakes.again),
        "saved_by_use": _money(seen.stakes.saved),
        "calls_needed": seen.calls,
        "calls_that_pay": seen.pays,
        "calls": len(sent),
        "read_tokens": sum(each.account.read for each in sent),
        "written_tokens": sum(sum(each.account.written.values()) for each in sent),
        "fresh_tokens": sum(each.account.fresh for each in sent),
        "spent": _money(warming.spent),
    }


def kinds(warming: Warming) -> Mapping[str, str]:
    """How each number is known: what rests on guessed uses or sizes is an estimate."""
    size = "measured" if warming.measured else "estimated"
    price = "derived" if warming.measured else "estimated"
    return {
        "lifetime_seconds": "derived",
        "interval_seconds": "derived",
        "prefix_tokens": size,
        "value": "estimated",
        "first_call": price,
        "later_call": price,
        "saved_by_use": price,
        "calls_needed": "estimated",
        "calls_that_pay": "estimated",
        "calls": "measured",
        "read_tokens": "measured",
        "written_tokens": "measured",
        "fresh_tokens": "measured",
        "spent": "derived",
        "choices": "estimated",
    }


def _prompt(warming: Warming) -> dict[str, Any]:
    return {
        **figures(warming),
        "kinds": dict(kinds(warming)),
        "lifetime": warming.target.lifetime,
        "resource": warming.resource,
        "choices": [
            {"lifetime": each.lifetime, "calls": each.calls, "cost": _money(each.cost)}
            for each in warming.choices
        ],
        "sent": [_sent(each) for each in warming.sent],
        "findings": list(warming.findings),
    }


def _sent(sent: Sent) -> dict[str, Any]:
    account = sent.account
    return {
        "at": round(sent.at, 3),
        "prompt": account.prompt,
        "read": account.read,
        "written": dict(account.written),
        "fresh": account.fresh,
        "output": account.output,
        "token_seconds": account.token_seconds,
        "found": sent.found,
        "cost": _money(sent.cost),
    }


def _money(amount: Decimal) -> str:
    return text(amount.quantize(DECIMALS))
