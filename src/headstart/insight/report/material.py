"""All that was read, ready to be reported."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from headstart.insight.asked.scrape import Scrape
from headstart.insight.plan.figure import Kind
from headstart.insight.report.blame import SAID
from headstart.insight.report.hearing import Hearing
from headstart.insight.report.levers import Lever
from headstart.insight.report.pricing import Pricing
from headstart.insight.report.tally import UNKNOWN, By, Tally
from headstart.ledger import By as LedgerBy
from headstart.ledger import Group, Tariff, report


@dataclass(slots=True)
class Source:
    """One place that was read."""

    place: str
    kind: Literal["requests", "ledger", "scrape"]
    requests: int | None
    """None where nobody counts them."""


@dataclass(slots=True)
class Material:
    """Requests, ledgers and scrapes. Ledgers are added to what was measured, scrapes never."""

    hearing: Hearing
    pricing: Pricing
    by: By
    target: float | None = None
    sources: list[Source] = field(default_factory=list)
    scrapes: list[Scrape] = field(default_factory=list)
    ledgers: int = 0

    @property
    def tally(self) -> Tally:
        """What was measured; if nothing was, what was estimated."""
        hearing = self.hearing
        return hearing.measured if hearing.measured.total.requests else hearing.estimated

    @property
    def kind(self) -> Kind:
        """What the tokens of the tally are."""
        return "measured" if self.tally is self.hearing.measured else "estimated"

    @property
    def left_out(self) -> int:
        """Requests without usage beside others that have some."""
        return self.hearing.estimated.total.requests if self.kind == "measured" else 0

    @property
    def window(self) -> Scrape | None:
        """Between the first scrape and the last; of a single one, since the server's start."""
        if len(self.scrapes) < 2:
            return self.scrapes[0] if self.scrapes else None
        steps = [
            after.since(before)
            for before, after in zip(self.scrapes, self.scrapes[1:], strict=False)
        ]
        total = steps[0]
        for step in steps[1:]:
            total = total.plus(step)
        return total

    @property
    def empty(self) -> bool:
        """Whether there is nothing to report on."""
        window = self.window
        told = window is not None and (window.hit_rate, window.claimed) != (None, None)
        return not (self.tally.total.requests or told)

    def add_ledger(self, path: Path, tariff: Tariff | None) -> None:
        """Raises LedgerError."""
        tally = self.hearing.measured
        total = report(path, tariff=tariff).total
        tally.total.add_group(total)
        self.ledgers += 1
        self.sources.append(Source(str(path), "ledger", total.requests))
        for group in report(path, "model", tariff=tariff).groups:
            tally.within(tally.models, group.name or UNKNOWN).add_group(group)
        for group in self._groups(path, total, tariff):
            tally.within(tally.groups, group.name or UNKNOWN).add_group(group)
        for group in report(path, "reason", tariff=tariff).groups:
            missed = group.reusable_ever - group.read
            if group.name in SAID and missed > 0:
                lever = Lever(SAID[group.name], "", "", group.requests, missed)
                tally.levers.add_sum(lever)

    def _groups(self, path: Path, total: Group, tariff: Tariff | None) -> Sequence[Group]:
        known: dict[By, LedgerBy] = {"model": "model", "tenant": "tenant", "hour": "hour"}
        by = known.get(self.by)
        if by is None:
            return [total]  # A ledger keeps no routes and no prompts.
        return report(path, by, tariff=tariff).groups
