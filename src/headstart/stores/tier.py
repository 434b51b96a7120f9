"""One tier: a store, how long it takes, and whether a call hangs in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from headstart.stores.guarded import Guarded
from headstart.stores.pace import Pace
from headstart.stores.protocol import StoreStats


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
