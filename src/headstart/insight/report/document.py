"""A report, whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.plan.figure import Figure, Section, Table
from headstart.insight.report.sums import Sums
from headstart.insight.report.tally import By

FINE, FINDING, IMPOSSIBLE, ABSTAINED = 0, 1, 2, 3
"""Exit statuses."""


@dataclass(frozen=True, slots=True)
class Document:
    """Four sections, and what follows from them."""

    by: By
    sections: Sequence[Section]
    findings: Sequence[str]
    """What makes the exit status 1."""
    advice: Sequence[str]
    """In the order in which it pays to act."""
    groups: Sequence[tuple[str, Sums]]
    total: Sums
    kind: str
    abstained: bool = False
    """Nothing to report on."""

    @property
    def status(self) -> int:
        """The exit status, if everything could be read."""
        if self.abstained:
            return ABSTAINED
        return FINDING if self.findings else FINE

    def figure(self, key: str) -> Figure:
        """Raises KeyError."""
        return {each.key: each for part in self.sections for each in part.figures}[key]

    def table(self, key: str) -> Table:
        """Raises KeyError."""
        return {each.key: each for part in self.sections for each in part.tables}[key]
