"""After a start the hottest chunks come up from the disk, while the engine has nothing else to do.

They go one tier up: into the RAM tier if there is one, else into the pool. The hottest come first,
parents before their children, and they take no more than SHARE of the room above: the rest is for
what is really asked for. A request that arrives meanwhile waits for the writing of one chunk at
most, never for the reading.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Thread
from typing import Protocol

from headstart.cache import BlockKey, Namespace
from headstart.stores import Clock, PersistentNamespace, Record, StoreError
from headstart.stores.errors import RecordError
from headstart.stores.tier import HotStore, Tier

log = logging.getLogger("headstart.warming")

SHARE = 0.5
CALL_SECONDS = 5.0
"""A tier that takes longer for a chunk is no help: warming ends."""
LOOK_EVERY = 0.05
"""Seconds between two looks whether the engine is idle."""

Idle = Callable[[], AbstractContextManager[bool]]
"""Whether nothing runs or waits, and while it is entered that stays so: keep it short."""


class Target(Protocol):
    """Where chunks go."""

    def take(self, record: Record, idle: Idle) -> bool | None:
        """False where there is no more room, None where it has to wait for the engine."""
        ...


class TierTarget:
    """The tier above."""

    def __init__(self, tier: Tier, clock: Clock) -> None:
        self._tier = tier
        self._clock = clock

    def take(self, record: Record, idle: Idle) -> bool | None:
        """See Target."""
        with idle() as free:
            if not free:
                return None
        store, deadline = self._tier.store, self._clock() + CALL_SECONDS
        stats = store.stats()
        if (stats.bytes or 0) >= SHARE * (stats.capacity or 0):
            return False
        return store.put(record, deadline=deadline)


class Warming:
    """From `hot` to `target`. `root`: what a namespace's first chunks continue now.

    `wanted`: whether this engine serves a namespace at all.
    """

    def __init__(
        self,
        hot: HotStore,
        target: Target,
        *,
        wanted: Callable[[Namespace], bool],
        root: Callable[[Namespace], BlockKey],
        clock: Clock,
    ) -> None:
        self.done = Event()
        """Set when nothing more will come up."""
        self._hot = hot
        self._target = target
        self._wanted = wanted
        self._root = root
        self._clock = clock
        self._closed = Event()
        self._taken: dict[BlockKey, BlockKey] = {}
        """Chunks brought up, and the root of their chain."""

    def start(self, idle: Idle) -> None:
        """Begin, in a thread of its own."""
        Thread(target=self.run, args=(idle,), name="headstart-warming", daemon=True).start()

    def close(self) -> None:
        """Bring up nothing more."""
        self._closed.set()

    def run(self, idle: Idle) -> None:
        """Bring up what is hot, until there is enough of it."""
        try:
            while not self._hot.scanned and not self._closed.wait(LOOK_EVERY):
                pass
            for key in self._hot.hottest():
                if not self._bring(key, idle):
                    break
        except StoreError as error:
            log.warning("no more of the hottest KV is brought up: %s", error)
        except Exception:
            log.exception("no more of the hottest KV is brought up")
        finally:
            if self._taken:
                log.info("%d chunks of the hottest KV were brought up", len(self._taken))
            self.done.set()

    def _bring(self, key: BlockKey, idle: Idle) -> bool:
        """One chunk. False if it was the last."""
        if not self._until(idle):
            return False
        deadline = self._clock() + CALL_SECONDS
        try:
            record = self._hot.peek(key, self._serves, deadline=deadline)
        except RecordError:
            return True  # Damaged: what continues it is of no use either.
        if record is None or not self._follows(record):
            return True
        while (taken := self._target.take(record, idle)) is None:
            if not self._until(idle):
                return False
        if taken:
            self._taken[key] = self._root(record.namespace.namespace)
        return taken

    def _until(self, idle: Idle) -> bool:
        """Wait until the engine has nothing to do. False if it closes."""
        while not self._closed.is_set():
            with idle() as free:
                if free:
                    return True
            self._closed.wait(LOOK_EVERY)
        return False

    def _serves(self, space: PersistentNamespace) -> bool:
        return self._wanted(space.namespace)

    def _follows(self, record: Record) -> bool:
        """Whether a request could find it; not after a reset."""
        root = self._root(record.namespace.namespace)
        begin = self._taken.get(record.parent) if record.first_position else record.parent
        return begin == root
