"""A: time to first token at a shared prefix of P tokens followed by Q new ones, unseen and seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.bench.flops import flop_ratio, token_ratio
from headstart.insight.bench.plan import Request, Role, Sample, Step, alone
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import UNKNOWN, cached_range, pick, proof, show_range
from headstart.insight.bench.stats import Summary, summary
from headstart.insight.bench.table import Table
from headstart.insight.plan.shape import Shape


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """One point. Times in seconds; `ratio` is cold over warm, of the medians."""

    shared: int
    new: int
    cold: Summary
    warm: Summary
    repeat: Summary
    control: Summary
    ratio: float
    ideal_tokens: float
    ideal_flops: float | None
    cached_warm: tuple[int, int] | None
    cached_control: tuple[int, int] | None
    proved: str


@dataclass(frozen=True, slots=True)
class PrefixReuse:
    """Scenario A. Rounds go over all points, so that a burst of noise does not hit one alone."""

    shared: tuple[int, ...]
    new: tuple[int, ...]
    repeats: int
    shape: Shape | None = None
    key: str = "A"

    @property
    def points(self) -> list[tuple[int, int]]:
        """Every (P, Q)."""
        return [(p, q) for p in self.shared for q in self.new]

    def plan(self, source: PromptSource) -> list[Step]:
        """Per round and point: cold, warm, exact repeat; at the end one unseen control a point."""
        steps: list[Step] = []
        for repeat in range(self.repeats):
            for point in self.points:
                steps += _round(source, point, repeat)
        for shared, new in self.points:
            unseen = source.fresh(shared + new)
            steps.append(alone(Request(self.key, "control", (shared, new), 0, unseen)))
        return steps

    def rows(self, samples: Sequence[Sample]) -> list[PrefixRow]:
        """One row a point."""
        return [self._row(samples, point) for point in self.points]

    def _row(self, samples: Sequence[Sample], point: tuple[int, int]) -> PrefixRow:
        def times(role: Role) -> Summary:
            return summary(s.ttft for s in pick(samples, role, point))

        cold, warm = times("cold"), times("warm")
        controls = pick(samples, "cold", point) + pick(samples, "control", point)
        hits = pick(samples, "warm", point)
        return PrefixRow(
            shared=point[0],
            new=point[1],
            cold=cold,
            warm=warm,
            repeat=times("repeat"),
            control=times("control"),
            ratio=cold.median / warm.median,
            ideal_tokens=token_ratio(*point),
            ideal_flops=flop_ratio(self.shape, *point) if self.shape else None,
            cached_warm=cached_range(hits),
            cached_control=cached_range(controls),
            proved=proof(hits, controls),
        )

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """Milliseconds, median (min-max)."""
        columns = (
            *("P", "Q", "cold ms", "warm ms", "repeat ms", "control ms", "cold/warm"),
            *("ideal, tokens", "ideal, FLOPs", "cached warm", "cached unseen", "hit proved", "n"),
        )
        notes = (
            "cold: unseen. warm: same prefix, another question. repeat: the warm prompt again."
            " control: unseen, asked after the hits.",
        )
        rows = tuple(_cells(row) for row in self.rows(samples))
        return [Table("A. TTFT, median (min-max)", columns, rows, notes)]


def _round(source: PromptSource, point: tuple[int, int], repeat: int) -> list[Step]:
    shared, new = point
    prefix = source.fresh(shared)
    first, second = prefix + source.fresh(new), prefix + source.fresh(new)
    asked: list[tuple[Role, tuple[int, ...], int]] = [
        ("cold", first, 0),
        ("warm", second, shared),
        ("repeat", second, shared + new - 1),
    ]
    return [
        alone(Request("A", role, point, repeat, prompt, reusable=reusable))
        for role, prompt, reusable in asked
    ]


def _cells(row: PrefixRow) -> tuple[str, ...]:
    return (
        str(row.shared),
        str(row.new),
        *(time.show(1e3) for time in (row.cold, row.warm, row.repeat, row.control)),
        f"{row.ratio:.1f}x",
        f"{row.ideal_tokens:.1f}x",
        f"{row.ideal_flops:.1f}x" if row.ideal_flops else UNKNOWN,
        show_range(row.cached_warm),
        show_range(row.cached_control),
        row.proved,
        str(row.cold.n),
    )
