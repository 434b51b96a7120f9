"""What every scenario offers, and the pieces they share."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from headstart.insight.bench.plan import Role, Sample, Step
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.table import Table

UNKNOWN = "–"


class Scenario(Protocol):
    """Pure: neither method knows time or network. `rows` are dataclasses, for the JSON file."""

    @property
    def key(self) -> str:
        """The letter on the command line."""
        ...

    def plan(self, source: PromptSource) -> list[Step]:
        """What to ask, step by step."""
        ...

    def rows(self, samples: Sequence[Sample]) -> Sequence[Any]:
        """What the plan's samples amount to."""
        ...

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """The same for reading."""
        ...


def pick(
    samples: Iterable[Sample], role: Role, point: tuple[int, ...] | None = None
) -> list[Sample]:
    """The samples of one role, at one point if given."""
    return [s for s in samples if s.role == role and point in (None, s.point)]


def by_repeat(samples: Iterable[Sample]) -> list[list[Sample]]:
    """The samples of each repetition, in order."""
    groups: dict[int, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.repeat, []).append(sample)
    return [groups[repeat] for repeat in sorted(groups)]


def cached_range(samples: Iterable[Sample]) -> tuple[int, int] | None:
    """Smallest and largest cached token count; None if any was not reported."""
    counts = [s.cached_tokens for s in samples]
    known = [c for c in counts if c is not None]
    return (min(known), max(known)) if known and len(known) == len(counts) else None


def show_range(span: tuple[int, int] | None) -> str:
    """`low-high`, or the one number, or a dash for unreported."""
    if span is None:
        return UNKNOWN
    low, high = span
    return f"{low}" if low == high else f"{low}-{high}"


def proof(hits: Iterable[Sample], controls: Iterable[Sample]) -> str:
    """Whether the counters prove the hits: every hit shows more cached tokens than any control.

    Time alone proves nothing: the second request of a fresh process is faster without any cache.
    """
    hit, control = cached_range(hits), cached_range(controls)
    if hit is None or control is None:
        return "not reported"
    return "yes" if hit[0] > control[1] else "NO"
