"""Chunks on their way down to one tier: a thread that writes what its intake has let in."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

from headstart.cache.keys import BlockKey
from headstart.stores.intake import Intake
from headstart.stores.protocol import Clock
from headstart.stores.record import Record
from headstart.stores.tier import Tier

STORE_DEADLINE = 10.0


class Writer:
    """`tier` and its queue of at most `most_bytes`. `count` is told what happens, by name.

    Ask `has_room` before a chunk's bytes are taken, then `put` it; any thread may.
    """

    def __init__(
        self, tier: Tier, *, most_bytes: int, clock: Clock, count: Callable[[str, int], None]
    ) -> None:
        self.tier = tier
        self._clock = clock
        self._count = count
        self._lock = Lock()
        self._intake = Intake(tier.write, most_bytes=most_bytes)
        self._queue: SimpleQueue[tuple[Record, bool] | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(
            target=self._run, name=f"headstart-store-{tier.name}", daemon=True
        )  # A daemon: what hangs in a store must not keep the process from ending.
        self._thread.start()

    @property
    def queued(self) -> int:
        """Bytes in the queue, and in the thread's hands."""
        return self._intake.bytes

    @property
    def declines(self) -> bool:
        """Whether the last chunk that the tier was given was declined."""
        return self._intake.declines

    def has_room(self, size: int, place: float) -> bool:
        """See Intake."""
        with self._lock:
            return self._intake.has_room(size, place, self._clock())

    def has(self, key: BlockKey) -> bool:
        """Whether the tier was given the chunk and still has it, as far as is known."""
        return self._intake.has(key)

    def note(self, key: BlockKey) -> None:
        """The tier has the chunk."""
        with self._lock:
            self._intake.note(key)

    def lost(self, key: BlockKey) -> None:
        """The tier has the chunk no longer: it may be offered again."""
        with self._lock:
            self._intake.lost(key)

    def put(self, record: Record, *, in_order: bool) -> None:
        """Queue a chunk. `in_order`: declined unless the tier was given what it continues."""
        with self._lock:
            self._intake.add(record.key, len(record.payload))
        self._count("queued", 1)
        self._queue.put((record, in_order))

    def close(self, seconds: float) -> None:
        """Write what is queued, for at most so long."""
        self._queue.put(None)
        self._thread.join(seconds)
        self._closed = True

    def _run(self) -> None:
        while (queued := self._queue.get()) is not None and not self._closed:
            record, in_order = queued
            size = len(record.payload)
            follows = not in_order or not record.first_position or self.has(record.parent)
            kept = follows and self._write(record, size)
            with self._lock:
                if kept:
                    self._intake.written(record.key, size)
                elif follows:
                    self._intake.declined(record.key, size, self._clock())
                else:
                    self._intake.orphaned(record.key, size)
            if not kept:
                self._count("declined", 1)

    def _write(self, record: Record, size: int) -> bool:
        begin = self._clock()
        if not self.tier.store.put(record, deadline=begin + STORE_DEADLINE):
            return False
        now = self._clock()
        self.tier.write.took(now - begin, size, now)
        return True
