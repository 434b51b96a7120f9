"""All tiers of one server: chunks go down to every one of them, and come up from the nearest.

Nothing here makes anybody wait: storing goes through one bounded queue per tier (intake.py), and
loading happens in workers, only from tiers that are faster than computing.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores.held import Held
from headstart.stores.load import Load, Loaded
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock
from headstart.stores.tier import HotStore, Tier, TierStats
from headstart.stores.writer import Writer

log = logging.getLogger(__name__)

GAIN = 0.8
"""A load must be expected to take less than this share of computing."""
LOOK_SHARE = 0.1
"""Of computing, that finding out what a tier has may take; or LOOK_AT_EASE seconds."""
LOOK_AT_EASE = 0.005
LOOK_DEADLINE = 0.5
STALL = 4.0
"""A chunk that takes so many times what it may take on average is not waited for any longer."""
STALL_AT_LEAST = 0.05
LARGEST_QUEUE = 1024**3
"""Bytes in the queues of all tiers."""
LOADED_BYTES = 1024**3
"""What loads may hold in all, until the engine has room for it."""
READERS = 4


@dataclass(frozen=True, slots=True)
class _Job:
    """One prompt's chunks to be read."""

    load: Load
    namespace: PersistentNamespace
    keys: Sequence[BlockKey]
    first: int
    begun: float
    worth: float


class Tiers:
    """`tiers` from the nearest to the farthest; chunks of `chunk_bytes`."""

    def __init__(self, tiers: Sequence[Tier], *, chunk_bytes: int, clock: Clock) -> None:
        self._tiers = tiers
        self.chunk_bytes = chunk_bytes
        self._clock = clock
        self._lock = Lock()
        self._counts = Counter[str]()
        self._held = Held(LOADED_BYTES)
        self.writers = [self._writer(tier) for tier in tiers]
        """What takes chunks down, by tier."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        for _ in range(READERS):
            # A daemon: what hangs in a store must not keep the process from ending.
            Thread(target=self._read, name="headstart-load", daemon=True).start()

    def load(
        self,
        namespace: PersistentNamespace,
        keys: Sequence[BlockKey],
        *,
        first: int,
        worth: float,
        settled: Callable[[], None],
    ) -> Load | None:
        """Begin to read the chunks `keys`, of which the first is the prompt's chunk `first`.

        `worth`: seconds it takes to compute one chunk. `settled` is called, from another thread,
        when nothing more will come. None where nothing could come: everything hangs.
        """
        now = self._clock()
        hanging = [tier.hanging(now) for tier in self._tiers]
        if all(hanging) or sum(hanging) >= READERS:
            self._count("hanging", 1)
            return None
        load = Load(now + GAIN * worth * len(keys), settled)
        self._jobs.put(_Job(load, namespace, keys, first, now, worth))
        return load

    @property
    def queued(self) -> int:
        """Bytes on their way down; what goes to several tiers counts several times."""
        return sum(writer.queued for writer in self.writers)

    def takers(self, place: float) -> list[Writer]:
        """Who has room for a chunk at `place` in its prompt."""
        return [writer for writer in self.writers if writer.has_room(self.chunk_bytes, place)]

    def dropped(self, writer: Writer, chunks: int) -> None:
        """Count chunks for which there was no room as long as they could be had."""
        self._count(f"{writer.tier.name}_dropped", chunks)

    def hot(self) -> tuple[HotStore, Tier | None] | None:
        """The nearest tier that knows what was hot before the start, and the one above it."""
        above: Tier | None = None
        for tier in self._tiers:
            if tier.hot is not None:
                return tier.hot, above
            above = tier
        return None

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """A request is over; see Store."""
        for tier in self._tiers:
            tier.store.used(keys, reused, visit)

    def stats(self) -> tuple[list[TierStats], Mapping[str, int]]:
        """Every tier, and what happened between them."""
        with self._lock:
            counts = dict(self._counts)
        return [
            TierStats(t.name, t.store.state.value, t.store.stats()) for t in self._tiers
        ], counts

    def close(self, seconds: float) -> None:
        """Write what is queued, for at most so long; then let go of everything."""
        closing = [Thread(target=writer.close, args=(seconds,)) for writer in self.writers]
        for each in closing:
            each.start()
        for each in closing:
            each.join()
        self._closed = True
        for _ in range(READERS):
            self._jobs.put(None)
        for tier in self._tiers:
            tier.store.close()

    def _writer(self, tier: Tier) -> Writer:
        return Writer(
            tier,
            most_bytes=LARGEST_QUEUE // len(self._tiers),
            clock=self._clock,
            count=lambda what, by: self._count(f"{tier.name}_{what}", by),
        )

    def _read(self) -> None:
        while (job := self._jobs.get()) is not None and not self._closed:
            promised = loaded = 0
            try:
                where = self._where(job)
                promised = len(where)
                in_time = job.begun + GAIN * job.worth * promised
                job.load.deadline = min(job.load.deadline, in_time)
                job.load.promised = promised
                for at, tier in enumerate(where):
                    if not self._bring(job, at, tier):
                        break
                    loaded += 1
            except Exception:
                log.exception("a load failed; its prompt is computed")
            self._count("loaded", loaded)
            self._count("late", promised - loaded)
            job.load.end()

    def _where(self, job: _Job) -> list[Tier]:
        """For each leading chunk that can be had in time: the nearest tier that has it."""
        where: list[Tier | None] = [None] * len(job.keys)
        look = max(LOOK_AT_EASE, LOOK_SHARE * job.worth * len(job.keys))
        for tier, writer in zip(self._tiers, self.writers, strict=True):
            missing = [at for at, known in enumerate(where) if known is None]
            begin = self._clock()
            if not missing or begin >= job.load.deadline or not job.load.wanted():
                break
            if not (self._worthwhile(tier, job, begin) and tier.look.worthwhile(1, look, begin)):
                self._count(f"{tier.name}_too_slow", 1)
                continue
            if tier.hanging(begin):
                self._count("hanging", 1)
                continue
            asked = [job.keys[at] for at in missing]
            deadline = min(job.load.deadline, begin + LOOK_DEADLINE)
            with tier.call(deadline):
                found = tier.store.contains_many(job.namespace, asked, deadline=deadline)
            now = self._clock()
            in_time = now < deadline  # Else it failed: that is the breaker's to judge.
            if in_time:
                tier.look.took(now - begin, 1, now)
            for at, here in zip(missing, found, strict=True):
                if here:
                    where[at] = tier
                elif in_time:
                    writer.lost(job.keys[at])
        leading: list[Tier] = []
        for known in where:
            if known is None:
                break
            leading.append(known)
        return leading

    def _bring(self, job: _Job, at: int, tier: Tier) -> bool:
        """Add a chunk to the load. False if it isn't to be had, or not in time."""
        now, key = self._clock(), job.keys[at]
        left = job.load.deadline - now
        if left <= 0 or not job.load.wanted() or not self._worthwhile(tier, job, now):
            return False
        payload = self._held.get(
            key, self.chunk_bytes, lambda: self._get(job, key, tier), timeout=left
        )
        if payload is None:
            return False
        at_tier = self._tiers.index(tier)
        # What was kept before the start was given to all that is farther away too. What came since
        # is known from there.
        for writer in self.writers[at_tier : None if tier.lasting else at_tier + 1]:
            writer.note(key)
        return job.load.add(Loaded(job.first + at, payload, tier.name))

    def _get(self, job: _Job, key: BlockKey, tier: Tier) -> memoryview | None:
        begin, expected = self._clock(), GAIN * job.worth
        deadline = min(job.load.deadline, begin + max(STALL_AT_LEAST, STALL * expected))
        with tier.call(deadline):
            record = tier.store.get(job.namespace, key, deadline=deadline)
        now = self._clock()
        if record is not None or now - begin > expected:  # A quick miss says nothing of the pace.
            tier.read.took(now - begin, self.chunk_bytes, now)
        if record is None:
            if now < deadline:
                self.writers[self._tiers.index(tier)].lost(key)
            return None
        if len(record.payload) != self.chunk_bytes:
            self._count("other_size", 1)
            return None
        for writer in self.writers[: self._tiers.index(tier)]:
            if writer.has_room(self.chunk_bytes, 1.0):
                writer.put(record, in_order=False)
        return memoryview(record.payload)

    def _worthwhile(self, tier: Tier, job: _Job, now: float) -> bool:
        return tier.read.worthwhile(self.chunk_bytes, GAIN * job.worth, now)

    def _count(self, what: str, by: int) -> None:
        if by:
            with self._lock:
                self._counts[what] += by
