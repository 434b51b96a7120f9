"""Runs a stream of requests through any number of caches at once, and counts what is reused."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.request import Request

Heard = Callable[[int, Request, int], None]
"""Told of every request: the number of the fleet, the request, and its prompt tokens reused."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy made of a stream with room for `capacity` blocks."""

    policy: str
    capacity: int
    prompt_tokens: int
    hit_tokens: int
    levels: tuple[int, ...] = ()
    """Of the hits, by level: the pool, then each tier below it."""
    loads: tuple[int, ...] = ()
    """Prompt tokens that each replica computed."""
    refused: int = 0
    """Requests longer than a pool."""

    @property
    def hit_rate(self) -> float:
        """Of tokens, 0..1."""
        return self.hit_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def replay(
    requests: Sequence[Request], *, policy: str, capacity: int, index: str = "radix"
) -> Outcome:
    """What `policy`, by its name, reuses with room for `capacity` blocks."""
    longest = max((len(each.blocks) + len(each.answer) for each in requests), default=0)
    setup = Setup(policy, capacity, index=index, longest=longest)
    return run(requests, [Fleet([setup])])[0]


def run(
    requests: Iterable[Request], fleets: Sequence[Fleet], heard: Heard | None = None
) -> list[Outcome]:
    """One pass over the stream, in its order; what each fleet makes of it."""
    prompt_tokens = 0
    levels = [[0] * len(fleet.levels) for fleet in fleets]
    for request in requests:
        prompt_tokens += request.prompt_tokens
        for number, fleet in enumerate(fleets):
            added = fleet.serve(request)
            sums = levels[number]
            for level, tokens in enumerate(added):
                sums[level] += tokens
            if heard is not None:
                heard(number, request, sum(added))
    return [
        Outcome(
            policy=fleet.levels[0].policy,
            capacity=fleet.levels[0].capacity,
            prompt_tokens=prompt_tokens,
            hit_tokens=sum(hits),
            levels=tuple(hits),
            loads=tuple(replica.load for replica in fleet.replicas),
            refused=fleet.refused,
        )
        for fleet, hits in zip(fleets, levels, strict=True)
    ]
