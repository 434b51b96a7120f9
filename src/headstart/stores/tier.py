"""One tier: a store, how long it takes, and whether a call hangs in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from headstart.cache.keys import BlockKey
from headstart.stores.guarded import Guarded
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.pace import Pace
from headstart.stores.protocol import StoreStats
from headstart.stores.record import Record


class HotStore(Protocol):
    """A store that outlives the process and knows what was hot."""

    @property
    def scanned(self) -> bool:
        """Whether it knows all that it holds."""
        ...

    def hottest(self) -> list[BlockKey]:
        """The chunks of whole prefixes, the hottest first and parents before their children."""
        ...

    def peek(
        self, key: BlockKey, wanted: Callable[[PersistentNamespace], bool], *, deadline: float
    ) -> Record | None:
        """The chunk, if its namespace is wanted, without counting it as used. Raises StoreError."""
        ...


@dataclass(slots=True)
class Tier:
    """A store under its name."""

    name: str
    store: Guarded
    lasting: bool = True
    """Whether what it holds outlives the process."""
    look: Pace = field(default_factory=Pace)
    """Per call of `contains_many`."""
    read: Pace = field(default_factory=Pace)
    """Per byte, like `write`."""
    write: Pace = field(default_factory=Pace)
    hot: HotStore | None = None
    """The same store, if it knows what was hot before the start."""
    _under_way: list[float] = field(default_factory=list)

    @contextmanager
    def call(self, deadline: float) -> Iterator[None]:
        """A reader's call to the store, for as long as it lasts."""
        self._under_way.append(deadline)
        try:
            yield
        finally:
            self._under_way.remove(deadline)

    def hanging(self, now: float) -> int:
        """Readers' calls that should have ended: a file system that hangs knows no deadline."""
        return sum(deadline < now for deadline in list(self._under_way))


@dataclass(frozen=True, slots=True)
class TierStats:
    """One tier now."""

    name: str
    state: str
    """Of its breaker: closed is well."""
    store: StoreStats
