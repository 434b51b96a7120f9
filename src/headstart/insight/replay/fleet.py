"""Replicas behind a router, each with a pool and the tiers below it; perhaps one tier for all.

What is modelled: what a request brings is written through to every level at once, every level
hears of every request that its replica gets and keeps by the same policy, and what a lower level
has is brought up at no cost. So a level's own hits are what it holds beyond the levels above.
What is not: bandwidth, deadlines, and requests that run at the same time.
"""

from collections.abc import Callable, Sequence
from itertools import count
from zlib import crc32

from headstart.insight.replay.pool import Pool, Setup
from headstart.insight.replay.request import Request


class Replica:
    """A pool and its own tiers, fastest first."""

    def __init__(self, setups: Sequence[Setup]) -> None:
        self.levels = [Pool(setup) for setup in setups]
        self.load = 0
        """Prompt tokens it was given and had to compute."""

    def would_hit(self, request: Request) -> int:
        """The longest prefix that any of its levels holds."""
        return max(level.would_hit(request) for level in self.levels)

    def serve(self, request: Request) -> list[int]:
        """For each level, prompt tokens that are found in it or above."""
        return [level.serve(request) for level in self.levels]


Route = Callable[[Sequence[Replica], Request], int]


def _round_robin() -> Route:
    turn = count()
    return lambda replicas, _: next(turn) % len(replicas)


def _by_session() -> Route:
    """By the session's name; requests without one in turn."""
    others = _round_robin()

    def choose(replicas: Sequence[Replica], request: Request) -> int:
        if request.session is None:
            return others(replicas, request)
        return crc32(request.session.encode()) % len(replicas)

    return choose


def _by_prefix() -> Route:
    """Who would have computed least with this request done: a prefix draws requests to where it is
    cached, up to what it saves."""

    def choose(replicas: Sequence[Replica], request: Request) -> int:
        ends = [each.load + request.prompt_tokens - each.would_hit(request) for each in replicas]
        return ends.index(min(ends))

    return choose


ROUTES: dict[str, Callable[[], Route]] = {
    "prefix": _by_prefix,
    "session": _by_session,
    "round-robin": _round_robin,
}


class Fleet:
    """`levels`: of each replica, fastest first. `shared`: a last level that all have in common."""

    def __init__(
        self,
        levels: Sequence[Setup],
        *,
        replicas: int = 1,
        route: str = "round-robin",
        shared: Setup | None = None,
    ) -> None:
        self.replicas = [Replica(levels) for _ in range(replicas)]
        self.shared = None if shared is None else Pool(shared)
        self.levels = [*levels, *(() if shared is None else (shared,))]
        self._route = ROUTES[route]()

    def serve(self, request: Request) -> list[int]:
        """Prompt tokens that each level adds to those above it."""
        at = self._route(self.replicas, request) if len(self.replicas) > 1 else 0
        replica = self.replicas[at]
        found = replica.serve(request)
        if self.shared is not None:
            found.append(self.shared.serve(request))
        added, best = [], 0
        for tokens in found:
            added.append(max(0, tokens - best))
            best = max(best, tokens)
        replica.load += request.prompt_tokens - best
        return added

    @property
    def room(self) -> int:
        """Blocks of the largest level, of all replicas together."""
        own = max(each.setup.capacity for each in self.replicas[0].levels) * len(self.replicas)
        return max(own, 0 if self.shared is None else self.shared.setup.capacity)

    @property
    def refused(self) -> int:
        """Requests longer than a replica's pool."""
        return sum(each.levels[0].refused for each in self.replicas)
