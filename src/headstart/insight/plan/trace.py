"""Hit rate against cache size: a recorded trace, run through the cache itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.insight.plan.errors import PlanError
from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay
from headstart.insight.replay.report import Kind, kinds
from headstart.insight.replay.request import Request
from headstart.insight.replay.source import Reading, Trace

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Of the footprint: the capacities that are tried, besides the plan's own."""


@dataclass(frozen=True, slots=True)
class Point:
    """One cache size."""

    tokens: int
    rates: Mapping[str, float]
    """Token hit rate, 0 … 1, by policy."""
    optimum: float
    planned: bool
    """It is the size that the plan has room for."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Hit rates of one trace."""

    name: str
    notes: Sequence[str]
    policies: Sequence[str]
    requests: int
    block_tokens: int
    footprint_tokens: int
    """All different blocks of the trace."""
    ceiling: float
    points: Sequence[Point]
    kinds: Mapping[str, Kind]
    """How they are known, by the names of a replay."""

    @property
    def planned(self) -> Point:
        """The point of the plan's own room."""
        return next(point for point in self.points if point.planned)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording that is held whole: it is replayed for each policy and capacity."""

    name: str
    requests: Sequence[Request]
    """In blocks whose ids name prefixes."""
    notes: Sequence[str]
    """What the recording leaves open, and how that was filled."""
    kinds: Mapping[str, Kind]
    """How what is found in it is known, by the names of a replay."""


def read_trace(path: Path) -> Recorded:
    """A recording of any format that `headstart replay` reads. Raises PlanError."""
    try:
        trace = Trace([path], Reading())
        size = trace.block_tokens if trace.tokens else 1
        requests = list(trace.named(size=size))
        if not any(each.blocks or each.answer for each in requests):
            raise TraceError(f"{path.name}: no prompt fills {trace.block_tokens} tokens")
        known = kinds(trace.lengths, trace.times, trace.order)
        return Recorded(path.name, requests, trace.notes, known)
    except TraceError as error:
        raise PlanError(str(error)) from None


def curve(
    recorded: Recorded,
    *,
    policies: Sequence[str],
    pool_tokens: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Curve:
    """Runs it for each policy and capacity; `progress` wraps the sequence of capacities."""
    requests = recorded.requests
    optimum = Optimum(requests)
    block = requests[0].block_tokens
    own = min(max(1, pool_tokens // block), optimum.unique_blocks)
    tried = {max(1, round(optimum.unique_blocks * share)) for share in SHARES} | {own}
    points = [
        Point(
            tokens=blocks * block,
            rates={
                policy: replay(requests, policy=policy, capacity=blocks).hit_rate
                for policy in policies
            },
            optimum=optimum.hit_rate(blocks),
            planned=blocks == own,
        )
        for blocks in progress(sorted(tried))
    ]
    footprint = optimum.unique_blocks * block
    return Curve(
        name=recorded.name,
        notes=recorded.notes,
        policies=policies,
        requests=len(requests),
        block_tokens=block,
        footprint_tokens=footprint,
        ceiling=optimum.ceiling(),
        points=points,
        kinds=recorded.kinds,
    )
