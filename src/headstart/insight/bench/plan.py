"""What is asked and what came back, as plain data: scenarios plan it, the client measures it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Role = Literal["warmup", "cold", "warm", "repeat", "control", "turn", "client", "prime", "decode"]
"""cold: never seen. warm: seen prefix, new question. repeat: seen as a whole. control: never seen,
asked after the hits, so that a warmed-up process is not taken for a cache (failure kind ACCT-16).
prime: fills the cache, not reported."""


@dataclass(frozen=True, slots=True)
class Request:
    """One completion to ask for, and where its result belongs."""

    scenario: str
    role: Role
    point: tuple[int, ...]
    """Place on the scenario's axes, for example (shared tokens, new tokens)."""
    repeat: int
    prompt: tuple[int, ...]
    max_tokens: int = 1
    reusable: int = 0
    """Prompt tokens that earlier requests of this run had computed: more cannot be cached."""
    force: int | None = None
    """Make every generated token this one, so that the next turn's prompt is known beforehand."""


Lane = tuple[Request, ...]
"""Requests of one client, each sent when the one before has ended."""

Step = tuple[Lane, ...]
"""Lanes that run at the same time."""


def alone(request: Request) -> Step:
    """A step of a single request."""
    return ((request,),)


def count(steps: Iterable[Step]) -> int:
    """Number of requests in the steps."""
    return sum(len(lane) for step in steps for lane in step)


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured request. Times are seconds; `started` counts from the start of the benchmark."""

    scenario: str
    arm: str
    """Which server: "" for the one under test, "cache off" for the control server."""
    role: Role
    point: tuple[int, ...]
    repeat: int
    sent_tokens: int
    max_tokens: int
    reusable: int
    started: float
    ttft: float
    """Until the first chunk that shows a token."""
    last: float
    """Until the last such chunk."""
    total: float
    """Until the stream had ended."""
    prompt_tokens: int | None
    completion_tokens: int
    cached_tokens: int | None
    """As the endpoint reported them; None where it did not (generated ones are counted then)."""

    @property
    def ended(self) -> float:
        """End of the stream, counted from the start of the benchmark."""
        return self.started + self.total


def wall(samples: Iterable[Sample]) -> float:
    """Seconds from the first start to the last end."""
    every = list(samples)
    return max(s.ended for s in every) - min(s.started for s in every)
