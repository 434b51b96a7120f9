"""Hit rate against cache size: a recorded trace, run through the cache itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.insight.plan.errors import PlanError
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay
from headstart.insight.replay.traces import (
    Request,
    TraceError,
    read_kvt,
    read_mooncake,
    with_drawn_gaps,
    with_recorded_gaps,
)

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Of the footprint: the capacities that are tried, besides the plan's own."""
SPAN_SECONDS = 8 * 3600.0
"""Over which conversations without a common clock begin."""
SEED = 1


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
    policies: Sequence[str]
    requests: int
    block_tokens: int
    footprint_tokens: int
    """All different blocks of the trace."""
    ceiling: float
    points: Sequence[Point]

    @property
    def planned(self) -> Point:
        """The point of the plan's own room."""
        return next(point for point in self.points if point.planned)


def read_trace(path: Path) -> list[Request]:
    """A Mooncake (`.jsonl.gz`) or `.kvt.gz` recording. Raises PlanError."""
    try:
        requests = list(_requests(path))
    except TraceError as error:
        raise PlanError(str(error)) from None
    if not requests:
        raise PlanError(f"{path} holds no requests.")
    return requests


def curve(
    name: str,
    requests: Sequence[Request],
    *,
    policies: Sequence[str],
    pool_tokens: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Curve:
    """Runs `requests` for each policy and capacity; `progress` wraps the sequence of capacities."""
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
    return Curve(name, policies, len(requests), block, footprint, optimum.ceiling(), points)


def _requests(path: Path) -> Iterator[Request]:
    if path.name.endswith(".kvt.gz"):
        recording = read_kvt(path)
        if any(call.after_s for call in recording.calls):
            return with_recorded_gaps(recording, span_s=SPAN_SECONDS, seed=SEED)
        return with_drawn_gaps(recording, span_s=SPAN_SECONDS, seed=SEED)
    if path.name.endswith(".jsonl.gz"):
        return read_mooncake(path)
    raise PlanError(f"{path} is neither a .jsonl.gz (Mooncake) nor a .kvt.gz trace.")
