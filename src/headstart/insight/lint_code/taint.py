"""What makes a value differ from one run to the next, and how it came where it is."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from headstart.insight.findings.finding import Evidence, Step

MAX_STEPS = 12


class Cause(NamedTuple):
    """Why a value differs."""

    code: str
    """Of the rule."""
    what: str
    """As the subject of a sentence: `The clock`."""
    order: bool = False
    """Only the order differs: what sorts or counts takes it away."""
    evidence: Evidence = Evidence.CONFIRMED
    daily: bool = False
    """It holds for a day."""
    note: str | None = None
    """A way out of its own."""


@dataclass(frozen=True, slots=True)
class Taint:
    """Two taints of one cause and place are one taint; the way is only told."""

    cause: Cause
    source: Step
    element: bool = False
    """It is on one element of an unordered whole: the element alone is the same every time."""
    fixed: bool = False
    """It is made once, when a module is loaded."""
    way: tuple[Step, ...] = field(default=(), compare=False)
    hops: int = field(default=0, compare=False)
    """How many objects have kept it in an attribute."""

    def via(self, step: Step) -> "Taint":
        """With one more step, but not two on one line."""
        last = self.way[-1] if self.way else self.source
        same = (last.where.path, last.where.line) == (step.where.path, step.where.line)
        if same or len(self.way) >= MAX_STEPS:
            return self
        return replace(self, way=(*self.way, step))


MAX_HOPS = 2
"""Attributes are kept by class, not by object: each further one makes the way less likely."""

Taints: TypeAlias = frozenset[Taint]
NONE: Taints = frozenset()


def unordered(taints: Iterable[Taint]) -> Taints:
    """Those that sorting takes away."""
    return frozenset(taint for taint in taints if taint.cause.order)


def ordered(taints: Iterable[Taint]) -> Taints:
    """What remains after sorting."""
    return frozenset(taint for taint in taints if not taint.cause.order)


def hopped(taints: Iterable[Taint]) -> Taints:
    """What an object keeps of them in an attribute."""
    return frozenset(
        replace(taint, hops=taint.hops + 1) for taint in taints if taint.hops < MAX_HOPS
    )
