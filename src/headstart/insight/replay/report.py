"""What a replay says, and which of it was measured, derived or estimated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from headstart.insight.replay.money import Money
from headstart.insight.replay.replay import Outcome

Kind = Literal["measured", "derived", "estimated"]
"""Measured: counted in the recording, or by the cache's own code run on it. Derived: exact
arithmetic on that (the optimum, the ceiling, LRU in one pass). Estimated: also rests on something
that the recording doesn't say, such as lengths of texts, times, or who came first."""


def kinds(lengths: Kind, times: Kind, order: Kind) -> dict[str, Kind]:
    """How each number is known, by its name: as well as the lengths of requests, and when and in
    which order they came, which says what finds its prefix still cached. Lifetimes and policies
    look at the time, the optimum at the order alone."""
    exact = lengths == times == order == "measured"
    in_any_order: Kind = "derived" if lengths == "measured" else "estimated"
    return {
        "requests": "measured",
        "span": times,
        "tokens": lengths,
        "footprint": in_any_order,
        "hit_rate": "measured" if exact else "estimated",
        "ceiling": in_any_order,
        "optimum": "derived" if lengths == order == "measured" else "estimated",
        "money": "estimated",
    }


@dataclass(frozen=True, slots=True)
class Facts:
    """The recording."""

    files: Sequence[str]
    format: str
    requests: int
    prompt_tokens: int
    output_tokens: int
    block_tokens: int
    footprint_tokens: int | None
    """All its different blocks; None where nobody counted."""
    span_s: float
    lengths: Kind
    """How its token counts are known."""
    times: Kind
    """How it is known when its requests came."""
    order: Kind
    """How it is known which of them came first."""


@dataclass(frozen=True, slots=True)
class Point:
    """One policy at one capacity."""

    outcome: Outcome
    capacity_tokens: int
    footprint_share: float | None
    """Of all different blocks; None where nobody counted, or there is none."""
    optimum: float | None
    """What no policy can beat with as much room; None where that was not asked for."""
    money: Money | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Hit rates (0..1) by capacity in tokens."""

    name: str
    points: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Report:
    """A replay, whole."""

    facts: Facts
    setup: Mapping[str, str | int | float | None]
    levels: Sequence[str]
    """Names of the levels that hits are told by."""
    ceiling: float | None
    """The hit rate of a cache without a limit."""
    points: Sequence[Point]
    curves: Sequence[Curve]
    notes: Sequence[str]
    findings: Sequence[str]

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """How each number is known, by its name."""
        return kinds(self.facts.lengths, self.facts.times, self.facts.order)
