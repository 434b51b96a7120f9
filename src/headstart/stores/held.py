"""The chunks that loads hold at this moment: each read once, all of them within a bound."""

import weakref
from collections.abc import Callable
from threading import Condition

from headstart.cache.keys import BlockKey

Read = Callable[[], memoryview | None]


class Held:
    """Lets whoever asks for a chunk that another one is reading, or still has, share it.

    `max_bytes` bounds what is alive in all; where it is reached, readers wait. Memory comes back
    when the last user lets go of the payload, so nobody has to give anything back.
    """

    def __init__(self, max_bytes: int) -> None:
        self._free = max_bytes
        self._max_bytes = max_bytes
        self._changed = Condition()
        self._being_read: set[BlockKey] = set()
        self._alive: weakref.WeakValueDictionary[BlockKey, memoryview] = (
            weakref.WeakValueDictionary()
        )

    @property
    def bytes(self) -> int:
        """Alive now, or being read."""
        return self._max_bytes - self._free

    def get(self, key: BlockKey, size: int, read: Read, *, timeout: float) -> memoryview | None:
        """The payload of `key`, by `read` if nobody has it. None if that fails or takes too long.

        `timeout`: seconds to wait for others. A payload has `size` bytes.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_go_on(key, size), timeout):
                return None
            if (known := self._alive.get(key)) is not None:
                return known
            self._being_read.add(key)
            self._free -= size
        payload = None
        try:
            payload = read()
        finally:
            with self._changed:
                self._being_read.discard(key)
                if payload is None:
                    self._give(size)
                else:
                    self._alive[key] = payload
                    weakref.finalize(payload, self._give, size).atexit = False
                self._changed.notify_all()
        return payload

    def _may_go_on(self, key: BlockKey, size: int) -> bool:
        if key in self._being_read:
            return False
        room = size <= self._free or self._free == self._max_bytes
        return room or key in self._alive

    def _give(self, size: int) -> None:
        with self._changed:
            self._free += size
            self._changed.notify_all()
