"""What was findable once: when it went, and why. Bounded, the oldest memories go first."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from headstart.cache.keys import BlockKey

Cause = Literal["evicted", "expired"]


@dataclass(frozen=True, slots=True)
class Ghost:
    """How blocks were given up."""

    cause: Cause
    by: str
    """The policy's name, or "ttl"."""
    when: float
    """On the cache's clock, seconds."""


class Ghosts:
    """The last `size` blocks that were given up, by their keys."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._ghosts: OrderedDict[BlockKey, Ghost] = OrderedDict()
        """Not a dict: finding the first entry of one takes longer the more went before it."""

    def add(self, keys: Iterable[BlockKey], ghost: Ghost) -> None:
        """Remember how `keys` went; what was known of them before is replaced."""
        if not self._size:
            return
        for key in keys:
            self._ghosts.pop(key, None)
            self._ghosts[key] = ghost
        while len(self._ghosts) > self._size:
            self._ghosts.popitem(last=False)

    def get(self, key: BlockKey) -> Ghost | None:
        """How the block under `key` went the last time, if that is remembered."""
        return self._ghosts.get(key)

    def clear(self) -> None:
        """Forget all."""
        self._ghosts.clear()
