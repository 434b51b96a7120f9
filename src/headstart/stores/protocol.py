"""What every store can do. Called from worker threads of whoever drives it, several at once.

Every deadline is a moment of the store's own monotonic clock, in seconds, and covers the call.
A plain store raises StoreError where it can't do its work; `Guarded` turns that into a miss.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores.errors import Late
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.record import Record

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """A store's state. None where the store can't know."""

    chunks: int | None
    bytes: int | None
    """Physical bytes in use."""
    capacity: int | None
    """Physical bytes that may be in use."""
    counts: Mapping[str, int]
    """Events since start, by reason: hit, miss, stored, evicted, corrupt, full, late, ..."""


class Store(Protocol):
    """Keeps chunks by namespace and key."""

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """Which chunks are probably here. A promise only `get` can keep."""

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """The chunk, verified, or None.

        `into` has the payload's exact length and is scratch memory: on a miss or an error its
        content is undefined.
        """

    def put(self, record: Record, *, deadline: float) -> bool:
        """Keep the chunk. False where it was declined, with the reason in `stats().counts`.

        A chunk that is here already counts as kept. Store a prefix from its start, and stop at the
        first False: a chunk is of no use without those before it. Raises ValueError for a record
        that contradicts itself.
        """

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """Forget the chunk, if it is here."""

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """A request is over, without I/O: a store that chooses what goes learns from it.

        `keys`: the request's chunks from the first on, of which it reused the first `reused`, from
        wherever. Some may not be here.
        """

    def stats(self) -> StoreStats:
        """A picture of now, without I/O and without waiting for anybody else's."""

    def close(self) -> None:
        """Let go of threads and sockets. What is stored stays."""


def time_left(clock: Clock, deadline: float) -> float:
    """Seconds until the deadline. Raises Late when there are none."""
    if (left := deadline - clock()) <= 0:
        raise Late("the deadline has passed")
    return left
