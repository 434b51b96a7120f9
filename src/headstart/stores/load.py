"""Chunks on their way up from the tiers, for one prompt."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True)
class Loaded:
    """A verified chunk and the tier it came from."""

    index: int
    """Its place among the prompt's chunks."""
    payload: memoryview
    tier: str


class Load:
    """Filled by a worker in the prompt's order, taken once by the engine.

    What is verified when the time is up is kept; the rest is computed.
    """

    def __init__(self, deadline: float, settled: Callable[[], None]) -> None:
        self.deadline = deadline
        """On the tiers' clock. The worker brings it forward once it knows what there is."""
        self.promised = 0
        """Leading chunks that the tiers say they have; the worker's to set, once it knows."""
        self._settled = settled
        self._lock = Lock()
        self._chunks: list[Loaded] = []
        self._over = False

    def pending(self, now: float) -> bool:
        """Whether waiting may still bring something."""
        return not self._over and now < self.deadline

    def wanted(self) -> bool:
        """Whether anybody still waits for it."""
        return not self._over

    def add(self, chunk: Loaded) -> bool:
        """The next chunk is here. False if nobody waits for it any more."""
        with self._lock:
            if not self._over:
                self._chunks.append(chunk)
            return not self._over

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._over = True
        self._settled()

    def take(self) -> tuple[list[Loaded], bool]:
        """What has come, and whether it is less than the tiers had promised. Ends the load."""
        with self._lock:
            self._over = True
            chunks, self._chunks = self._chunks, []
            promised, self.promised = self.promised, 0
            return chunks, len(chunks) < promised
