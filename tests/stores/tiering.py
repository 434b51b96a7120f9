"""Tiers over stores that misbehave on command, with a clock that only moves when told."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.stores.build import SPACE, Clock
from tests.stores.faults import FaultyStore

from headstart.cache.keys import BlockKey
from headstart.stores import Breaker, Guarded, PersistentNamespace, RamStore, Record, Store
from headstart.stores.load import Loaded
from headstart.stores.tier import Tier
from headstart.stores.tiers import Tiers

SIZE = 5000
"""Bytes of a chunk's payload, as `build.chain` makes them."""
LONG = 20.0


class Awkward(FaultyStore):
    """Calls a hook of one operation before it: `look`, `get` or `put`."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.hooks: dict[str, Callable[[], None]] = {}
        self.seen: list[str] = []

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        self._hook("look")
        return super().contains_many(namespace, keys, deadline=deadline)

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        self._hook("get")
        return super().get(namespace, key, into, deadline=deadline)

    def put(self, record: Record, *, deadline: float) -> bool:
        self._hook("put")
        return super().put(record, deadline=deadline)

    def _hook(self, operation: str) -> None:
        self.seen.append(operation)
        self.hooks.get(operation, lambda: None)()


class Rig:
    """`names` of tiers from near to far, each a RAM store behind an Awkward one; then `stores`."""

    def __init__(
        self,
        *names: str,
        stores: Mapping[str, Store] | None = None,
        arena: int = 1 << 20,
        chunk_bytes: int = SIZE,
    ) -> None:
        self.clock = Clock()
        under: dict[str, Store] = {
            name: RamStore(memoryview(bytearray(arena)), clock=self.clock) for name in names
        }
        under |= stores or {}
        self.store = {name: Awkward(store) for name, store in under.items()}
        self.tier = {
            name: Tier(
                name, Guarded(name, store, Breaker(), clock=self.clock), lasting=name != "ram"
            )
            for name, store in self.store.items()
        }
        self.tiers = Tiers(list(self.tier.values()), chunk_bytes=chunk_bytes, clock=self.clock)

    def put(self, name: str, records: Sequence[Record]) -> None:
        """Into one tier only."""
        for record in records:
            assert self.store[name].store.put(record, deadline=float("inf"))

    def store_all(self, records: Sequence[Record], *, wait: bool = True) -> None:
        """Down to every tier, in order."""
        for record in records:
            for writer in self.tiers.writers:
                writer.put(record, in_order=True)
        if wait:
            self.drained()

    def takes(self, name: str, operation: str, seconds: float) -> None:
        """Every such call to the tier moves the clock."""

        self.store[name].hooks[operation] = lambda: self.move(seconds)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += seconds

    def load(
        self, records: Sequence[Record], *, first: int = 0, worth: float = 1.0
    ) -> tuple[list[Loaded], bool]:
        """Load to the end; what came, and whether it fell short."""
        done = threading.Event()
        keys = [record.key for record in records]
        load = self.tiers.load(SPACE, keys, first=first, worth=worth, settled=done.set)
        assert load is not None
        assert done.wait(LONG), "the load never ended"
        return load.take()

    def events(self) -> dict[str, int]:
        return dict(self.tiers.stats()[1])

    def counts(self, name: str) -> dict[str, int]:
        return dict(self.tier[name].store.stats().counts)

    def drained(self) -> None:
        """Wait until all that was queued is written."""
        self.until(lambda: self.tiers.queued == 0)

    def fill(self) -> None:
        """All queues are full, as far as they know."""
        for writer in self.tiers.writers:
            writer._intake.add(BlockKey(b"f" * 32), 1 << 40)

    def empty(self) -> None:
        """They are what they were before."""
        for writer in self.tiers.writers:
            writer._intake.orphaned(BlockKey(b"f" * 32), 1 << 40)

    def until(self, holds: Callable[[], bool]) -> None:
        tick = threading.Event()
        for _ in range(int(LONG * 200)):
            if holds():
                return
            tick.wait(0.005)
        raise AssertionError("it never came true")


@contextmanager
def rig(*names: str, arena: int = 1 << 20, chunk_bytes: int = SIZE) -> Iterator[Rig]:
    made = Rig(*names, arena=arena, chunk_bytes=chunk_bytes)
    try:
        yield made
    finally:
        made.tiers.close(LONG)


def places(chunks: Sequence[Loaded]) -> list[tuple[int, str]]:
    return [(each.index, each.tier) for each in chunks]
