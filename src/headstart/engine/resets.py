"""What is remembered of resets beyond this process, so that a restart doesn't undo them.

The number of the last reset, its *generation*, is part of every key. A directory of the server's
own (`--disk`) keeps the server's. A remote keeps the last one of any server that shares it: who
starts takes that over, who runs keeps its own. A reset takes a number that nobody had, the time, so
what it leaves behind is found neither by this server nor by one that was reset at another time.
"""

import logging
import threading
from collections.abc import Callable

from headstart.stores.errors import StoreError
from headstart.stores.generation import Generation

log = logging.getLogger("headstart.engine")

DEADLINE = 2.0
"""Seconds to ask a place, or to tell it."""
TRIES = 3
"""To ask a place when the server starts."""
BETWEEN_TRIES = 0.2
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


class Resets:
    """`own`: the server's place; `shared`: that of all who use the same remote. Either may be None.

    `wall_ns` is the wall clock in nanoseconds.
    """

    def __init__(
        self,
        *,
        own: Generation | None = None,
        shared: Generation | None = None,
        clock: Callable[[], float],
        wall_ns: Callable[[], int],
    ) -> None:
        self._own = own
        self._shared = shared
        self._clock = clock
        self._wall_ns = wall_ns
        self._lock = threading.Lock()
        self._generation = 0
        self._closing = threading.Event()
        self._retries: threading.Thread | None = None

    def begin(self) -> int:
        """The generation to start with; asks the places, which may take some seconds."""
        if self._own is None and self._shared is None:
            return 0
        fresh = self.fresh()
        own = self._ask(self._own, fresh)
        shared = self._ask(self._shared, fresh if own is None else own)
        if own is None and (self._own is not None or shared is None):
            return fresh  # What may have been reset must not come back.
        generation = max(own or 0, shared or 0)
        if own is not None and shared is not None:
            self.remember(generation)
        return generation

    def fresh(self) -> int:
        """A generation that nobody had."""
        return self._wall_ns()

    def remember(self, generation: int) -> None:
        """Write it down wherever it must be known; waits no longer than some seconds.

        A remote that can't be told is told later, until the process ends.
        """
        with self._lock:
            self._generation = max(self._generation, generation)
            if self._own is not None:
                _tell(self._own, self._generation, self._deadline())
            if self._shared is None or self._retries is not None:
                return
            if not _tell(self._shared, self._generation, self._deadline()):
                self._retries = threading.Thread(
                    target=self._retry, args=(self._shared,), name="headstart-reset", daemon=True
                )
                self._retries.start()

    def close(self) -> None:
        """One last try, if the remote doesn't know yet; then let go of everything."""
        self._closing.set()
        if self._retries is not None:
            self._retries.join(DEADLINE + 1)
        if self._shared is not None:
            self._shared.close()

    def _retry(self, shared: Generation) -> None:
        pause, told = FIRST_PAUSE, False
        while not told:
            last = self._closing.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            with self._lock:
                told = _tell(shared, self._generation, self._deadline())
                if told or last:
                    self._retries = None
                    return

    def _ask(self, place: Generation | None, absent: int) -> int | None:
        """What the place says; None where there is none, or it says nothing."""
        if place is None:
            return None
        for left in reversed(range(TRIES)):
            try:
                return place.read_generation(absent, deadline=self._deadline())
            except StoreError as error:
                if not left:
                    log.warning("a tier can't say when it was last reset: %s", error)
                self._closing.wait(BETWEEN_TRIES if left else 0)
        return None

    def _deadline(self) -> float:
        return self._clock() + DEADLINE


def _tell(place: Generation, generation: int, deadline: float) -> bool:
    try:
        place.write_generation(generation, deadline=deadline)
    except StoreError as error:
        log.warning("the cache is reset, but a restart may find old KV again: %s", error)
        return False
    return True
