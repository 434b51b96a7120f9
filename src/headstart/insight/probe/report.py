"""What a probe says: a verdict, numbers that each say how they are known, and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.insight.plan.figure import Figure
from headstart.insight.probe.remarks import Remark
from headstart.insight.probe.verdict import FINDING, FINE, Verdict

Setup = Mapping[str, str | int | float | bool | None]
"""What was asked of which endpoint, in the order to show it."""


@dataclass(frozen=True, slots=True)
class Number:
    """A figure, and the interval in which it lies where one is known."""

    figure: Figure
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Numbers of one question."""

    title: str
    numbers: Sequence[Number]


@dataclass(frozen=True, slots=True)
class Report:
    """A probe's outcome, of either kind."""

    setup: Setup
    verdict: Verdict
    remarks: Sequence[Remark]
    parts: Sequence[Part]
    notes: Sequence[str]
    samples: Sequence[Mapping[str, Any]]
    """Every request as it was measured."""

    @property
    def status(self) -> int:
        """The exit status: the verdict's, or a finding's where a remark alarms."""
        alarmed = any(remark.alarms for remark in self.remarks)
        return FINDING if alarmed and self.verdict.status == FINE else self.verdict.status
