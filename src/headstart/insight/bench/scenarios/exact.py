"""E: an exact repeat of a long prompt is one token's work; a tiny prompt shows what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.bench.plan import Request, Sample, Step, alone
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import cached_range, pick, proof, show_range
from headstart.insight.bench.stats import Summary, summary
from headstart.insight.bench.table import Table


@dataclass(frozen=True, slots=True)
class ExactRow:
    """Times in seconds; `ratio` is the repeat's median over the tiny prompt's."""

    first: Summary
    repeat: Summary
    tiny: Summary
    control: Summary
    ratio: float
    cached: tuple[int, int] | None
    proved: str


@dataclass(frozen=True, slots=True)
class ExactRepeat:
    """Scenario E."""

    length: int
    tiny: int
    repeats: int
    key: str = "E"

    def plan(self, source: PromptSource) -> list[Step]:
        """The long prompt unseen, then repeats and unseen tiny prompts in turn, then a control."""
        long = source.fresh(self.length)
        point = (self.length,)
        asked = [Request(self.key, "cold", point, 0, long)]
        for n in range(self.repeats):
            asked.append(Request(self.key, "repeat", point, n, long, reusable=self.length - 1))
            asked.append(Request(self.key, "cold", (self.tiny,), n, source.fresh(self.tiny)))
        asked.append(Request(self.key, "control", point, 0, source.fresh(self.length)))
        return [alone(request) for request in asked]

    def rows(self, samples: Sequence[Sample]) -> list[ExactRow]:
        """One row."""
        point = (self.length,)
        first, repeats = pick(samples, "cold", point), pick(samples, "repeat")
        tiny, controls = pick(samples, "cold", (self.tiny,)), pick(samples, "control")
        repeat_time, tiny_time = summary(s.ttft for s in repeats), summary(s.ttft for s in tiny)
        return [
            ExactRow(
                first=summary(s.ttft for s in first),
                repeat=repeat_time,
                tiny=tiny_time,
                control=summary(s.ttft for s in controls),
                ratio=repeat_time.median / tiny_time.median,
                cached=cached_range(repeats),
                proved=proof(repeats, first + controls),
            )
        ]

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """Milliseconds, median (min-max)."""
        columns = (
            *("first ms", "repeat ms", f"{self.tiny}-token prompt ms", "control ms"),
            *("repeat/tiny", "cached", "hit proved", "n"),
        )
        rows = tuple(
            (
                *(time.show(1e3) for time in (row.first, row.repeat, row.tiny, row.control)),
                f"{row.ratio:.1f}x",
                show_range(row.cached),
                row.proved,
                str(row.repeat.n),
            )
            for row in self.rows(samples)
        )
        return [Table(f"E. Exact repeat of {self.length} tokens, TTFT", columns, rows)]
