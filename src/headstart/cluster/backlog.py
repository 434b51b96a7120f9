"""Batches of events on their way out: numbered as they come, the oldest dropped when too many wait.

A number is given to what is dropped too, so whoever follows sees the gap.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache import Event


@dataclass(frozen=True, slots=True)
class Batch:
    """What changed at one moment."""

    seq: int
    seconds: float
    """Since the epoch."""
    events: Sequence[Event]


class Backlog:
    """At most `most` batches wait. Any thread may put and take; neither ever waits for a peer."""

    def __init__(self, most: int) -> None:
        self.next_seq = 0
        """The number of the batch that comes next."""
        self.dropped = 0
        """Batches nobody took in time, since start."""
        self._waiting: deque[Batch] = deque()
        self._most = most
        self._lock = threading.Lock()

    def put(self, seconds: float, events: Sequence[Event]) -> None:
        """Queue what changed."""
        with self._lock:
            self._waiting.append(Batch(self.next_seq, seconds, events))
            self.next_seq += 1
            if len(self._waiting) > self._most:
                self._waiting.popleft()
                self.dropped += 1

    def take(self) -> Sequence[Batch]:
        """All that waits, oldest first."""
        with self._lock:
            taken, self._waiting = self._waiting, deque()
            return taken
