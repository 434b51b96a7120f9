"""Requests that are over, between whoever tells of them and the store that learns from it."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit

MOST = 2048
"""Reports that wait for a store that does nothing, or hangs; beyond it the oldest are lost."""


class Report(NamedTuple):
    """One request that is over."""

    keys: Sequence[BlockKey]
    """Its chunks, from the first on."""
    reused: int
    """How many of them it reused, from wherever."""
    stamp: int
    visit: Visit


class Reports:
    """Adding never waits: a store may hold its lock while its disk hangs."""

    def __init__(self) -> None:
        self._waiting: deque[Report] = deque(maxlen=MOST)

    def add(self, report: Report) -> None:
        """From any thread."""
        self._waiting.append(report)

    def take(self) -> Iterator[Report]:
        """All that wait, the oldest first. One taker at a time."""
        while self._waiting:
            yield self._waiting.popleft()
