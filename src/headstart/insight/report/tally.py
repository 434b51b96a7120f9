"""All that is added up of requests whose accounts are of one kind: measured, or estimated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, get_args

from headstart.insight.asked.asked import Asked
from headstart.insight.report.blame import Known, losses
from headstart.insight.report.gaps import Gaps
from headstart.insight.report.levers import Levers
from headstart.insight.report.pricing import Pricing
from headstart.insight.report.sessions import Sessions
from headstart.insight.report.sums import Sums
from headstart.insight.report.unread import Unread
from headstart.ledger import Bill

By = Literal["model", "tenant", "route", "prefix", "hour"]
BYS: tuple[By, ...] = get_args(By)
MOST_GROUPS = 10_000
OTHERS = "(others)"
UNKNOWN = "(unknown)"


@dataclass(slots=True)
class Tally:
    """Hears requests one after the other."""

    pricing: Pricing
    by: By
    total: Sums = field(default_factory=Sums)
    groups: dict[str, Sums] = field(default_factory=dict)
    models: dict[str, Sums] = field(default_factory=dict)
    sessions: Sessions = field(default_factory=Sessions)
    gaps: Gaps = field(default_factory=Gaps)
    levers: Levers = field(default_factory=Levers)
    unread: Unread = field(init=False)
    bodies: int = 0
    """Requests that came with theirs."""
    timed: int = 0
    priced_by: set[str] = field(default_factory=set)
    """Where prices come from, and of which day."""
    break_even: dict[tuple[str, str], Decimal | None] = field(default_factory=dict)
    """Reads that pay a write back, by model and lifetime, at the last price; None is never."""

    def __post_init__(self) -> None:
        self.unread = Unread(self.pricing)

    def hear(self, known: Known, prefix: str) -> None:
        """One more request, and the name of what it begins with."""
        asked, account = known.asked, known.account
        bill = self.pricing.bill(asked, account)
        reusable = None
        if known.reusable is not None:
            reusable = max(account.read, known.reusable.of(account.prompt))
        group = self.within(self.groups, group_of(asked, self.by, prefix))
        for sums in (self.total, group, self.within(self.models, asked.model or UNKNOWN)):
            sums.add(account, bill, reusable)
        if bill is not None:
            self._priced(asked, bill)
        self.bodies += asked.has_body
        self.timed += asked.time is not None
        lost = 0
        for loss in losses(known):
            lost += loss.tokens
            saved = self.pricing.saving(asked, account, bill, loss.tokens)
            self.levers.add(asked, prefix, loss.cause, loss.tokens, saved)
        self.unread.hear(asked, prefix, account, bill, explained=lost > 0)

    def _priced(self, asked: Asked, bill: Bill) -> None:
        source = self.pricing.source(asked)
        if source is not None:
            self.priced_by.add(source)
        if len(self.break_even) < MOST_GROUPS:
            for name, reads in bill.break_even.items():
                self.break_even[asked.model, name] = reads

    def within(self, groups: dict[str, Sums], name: str) -> Sums:
        """The sums of that name; beyond so many names they are those of all others."""
        if name not in groups and len(groups) >= MOST_GROUPS:
            name = OTHERS
        return groups.setdefault(name, Sums())


def group_of(asked: Asked, by: By, prefix: str) -> str:
    """Which group a request belongs to."""
    match by:
        case "model":
            return asked.model or UNKNOWN
        case "tenant":
            return asked.tenant or UNKNOWN
        case "route":
            return asked.route or UNKNOWN
        case "prefix":
            return prefix
        case "hour":
            if asked.time is None:
                return UNKNOWN
            return datetime.fromtimestamp(asked.time, UTC).strftime("%Y-%m-%dT%H:00Z")


def in_order(groups: Mapping[str, Sums]) -> list[tuple[str, Sums]]:
    """By name."""
    return sorted(groups.items())
