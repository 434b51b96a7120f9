"""C: many clients at once behind one system prompt, and the same load with nothing to share."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.bench.plan import Lane, Request, Role, Sample, Step, wall
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import UNKNOWN, by_repeat, pick
from headstart.insight.bench.stats import Summary, percentile, summary
from headstart.insight.bench.table import Table


@dataclass(frozen=True, slots=True)
class ClientsRow:
    """One load. Times in seconds, rates in tokens per second, per repetition."""

    load: str
    wall: Summary
    output_rate: Summary
    input_rate: Summary
    ttft_p50: Summary
    ttft_p95: Summary
    cached: int | None
    """Over all repetitions, like `possible`."""
    possible: int


@dataclass(frozen=True, slots=True)
class ManyClients:
    """Scenario C. `control` adds the same load with a prefix of its own for every request."""

    clients: int
    requests: int
    system: int
    own: int
    generated: int
    repeats: int
    control: bool = True
    key: str = "C"

    def plan(self, source: PromptSource) -> list[Step]:
        """A step a repetition, a lane a client."""
        steps = []
        for repeat in range(self.repeats):
            steps.append(self._load(source, repeat, "client"))
            if self.control:
                steps.append(self._load(source, repeat, "control"))
        return steps

    def _load(self, source: PromptSource, repeat: int, role: Role) -> Step:
        system = source.fresh(self.system)
        return tuple(self._lane(source, repeat, role, system) for _ in range(self.clients))

    def _lane(self, source: PromptSource, repeat: int, role: Role, system: tuple[int, ...]) -> Lane:
        shared = role == "client"
        return tuple(
            Request(
                scenario=self.key,
                role=role,
                point=(),
                repeat=repeat,
                prompt=(system if shared else source.fresh(self.system)) + source.fresh(self.own),
                max_tokens=self.generated,
                reusable=self.system if shared else 0,
            )
            for _ in range(self.requests)
        )

    def rows(self, samples: Sequence[Sample]) -> list[ClientsRow]:
        """A row for each load that was run: shared, unshared, shared with the cache off."""
        loads = {
            "shared": [s for s in pick(samples, "client") if not s.arm],
            "nothing shared": [s for s in pick(samples, "control") if not s.arm],
            "shared, cache off": [s for s in pick(samples, "client") if s.arm],
        }
        return [self._row(load, taken) for load, taken in loads.items() if taken]

    def _row(self, load: str, samples: list[Sample]) -> ClientsRow:
        runs = by_repeat(samples)
        cached = [s.cached_tokens for s in samples]
        first_ones = len(runs) * self.system
        return ClientsRow(
            load=load,
            wall=summary(map(wall, runs)),
            output_rate=summary(sum(s.completion_tokens for s in run) / wall(run) for run in runs),
            input_rate=summary(sum(s.sent_tokens for s in run) / wall(run) for run in runs),
            ttft_p50=summary(percentile((s.ttft for s in run), 50) for run in runs),
            ttft_p95=summary(percentile((s.ttft for s in run), 95) for run in runs),
            cached=None if None in cached else sum(c for c in cached if c is not None),
            possible=max(0, sum(s.reusable for s in samples) - first_ones),
        )

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """A line a load."""
        columns = (
            *("load", "wall s", "out tok/s", "in tok/s", "TTFT p50 ms", "TTFT p95 ms"),
            *("cached/possible", "n"),
        )
        title = (
            f"C. {self.clients} clients x {self.requests}, {self.system} shared + {self.own} own,"
            f" {self.generated} out"
        )
        return [Table(title, columns, tuple(_cells(row) for row in self.rows(samples)))]


def _cells(row: ClientsRow) -> tuple[str, ...]:
    return (
        row.load,
        row.wall.show(digits=1),
        row.output_rate.show(digits=1),
        row.input_rate.show(),
        row.ttft_p50.show(1e3),
        row.ttft_p95.show(1e3),
        f"{UNKNOWN if row.cached is None else row.cached}/{row.possible}",
        str(row.wall.n),
    )
