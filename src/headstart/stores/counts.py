"""Events by reason, counted from several threads."""

from collections import Counter
from threading import Lock


class Counts:
    """How often each thing happened since start."""

    __slots__ = ("_counter", "_lock")

    def __init__(self) -> None:
        self._counter: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, reason: str) -> None:
        """Once more."""
        with self._lock:
            self._counter[reason] += 1

    def snapshot(self) -> dict[str, int]:
        """All so far."""
        with self._lock:
            return dict(self._counter)
