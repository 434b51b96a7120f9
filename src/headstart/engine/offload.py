"""KV between the pool and the tiers: chunks go down when they are computed, and come up on arrival.

A chunk is a fixed number of blocks, counted from the prompt's begin. All methods are called by
whoever holds the engine's lock; the tiers do their work elsewhere.
"""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from headstart.cache import Lease, Namespace, PrefixCache, Visit, reusable_tokens
from headstart.cache.keys import TOKEN_BYTES, BlockKey
from headstart.engine.sequence import Sequence
from headstart.model.kv import KVPool
from headstart.stores import PersistentNamespace, Record, Unpersistable, persistable
from headstart.stores.codec import Buffer
from headstart.stores.tiers import Tiers

UNKNOWN_WORTH = 0.25
"""Seconds a chunk is taken to cost as long as no prefill was measured."""
MEASURED_TOKENS = 64
"""A step of so many tokens is prefill, most of it."""
SENT = 65_536
"""Chunks that are remembered as sent down (selective): after a reuse, the next one is no news."""


class Offload:
    """`chunk_blocks`: blocks in a chunk.

    `selective`: a chunk goes down when it is reused for the first time, not when it is computed.
    """

    def __init__(
        self,
        tiers: Tiers,
        cache: PrefixCache,
        pool: KVPool,
        *,
        chunk_blocks: int,
        selective: bool,
        clock: Callable[[], float],
        wall_ns: Callable[[], int],
    ) -> None:
        self.tiers = tiers
        self._cache = cache
        self._pool = pool
        self._blocks = chunk_blocks
        self._tokens = chunk_blocks * cache.block_size
        self._selective = selective
        self._wall_ns = wall_ns
        self._clock = clock
        self.settled: Callable[[], None] = lambda: None
        """Called from another thread when a sequence need not wait any longer."""
        self._seconds_per_token: float | None = None
        self._sent: dict[BlockKey, None] = {}
        self.loaded = Counter[str]()
        """Tokens brought up since start, by tier."""

    def prefilled(self, tokens: int, seconds: float) -> None:
        """Learn what computing costs from a step that did little else."""
        if tokens >= MEASURED_TOKENS:
            new, old = seconds / tokens, self._seconds_per_token
            self._seconds_per_token = new if old is None else old + 0.2 * (new - old)

    def waits(self, sequence: Sequence) -> bool:
        """Whether more of the sequence may still come from the tiers."""
        return sequence.load is not None and sequence.load.pending(self._clock())

    def begin(self, sequence: Sequence) -> None:
        """A prompt has arrived: look for what the pool hasn't got."""
        space = _persistent(sequence.chain.namespace)
        if space is None:
            return
        depth, keys = self._cache.keys_ahead(sequence.chain, sequence.tokens)
        first = depth // self._blocks
        ends = range((first + 1) * self._blocks, depth + len(keys) + 1, self._blocks)
        chunks = [keys[end - 1 - depth] for end in ends]
        if chunks:
            worth, per_token = UNKNOWN_WORTH, self._seconds_per_token
            if per_token is not None:
                gain = (first + len(chunks)) * self._tokens - depth * self._cache.block_size
                worth = per_token * gain / len(chunks)
            sequence.load = self.tiers.load(
                space, chunks, first=first, worth=worth, settled=self.settled
            )
            sequence.load_generation = sequence.chain.generation

    def admitted(self, sequence: Sequence) -> None:
        """The sequence has its lease: write what has been loaded into it, and publish that."""
        lease = sequence.lease
        assert lease is not None
        sequence.loaded.clear()
        sequence.came_short = False
        sequence.stored = 0
        if sequence.load is not None:
            chunks, sequence.came_short = sequence.load.take()
            sequence.load = None
            # What the lease relies on comes first: writing would overwrite what is to be copied.
            self._pool.copy_all(self._cache.take_copies())
            for chunk in chunks:
                begin = chunk.index * self._tokens
                if begin > sequence.computed or lease.generation != sequence.load_generation:
                    break  # Evicted here, or forgotten by a reset, while it was on its way.
                self._restore(sequence, begin, chunk.payload, chunk.tier)
            self._cache.publish(lease, sequence.tokens, sequence.computed)
        sequence.stored = max(sequence.stored, sequence.computed // self._tokens)
        if self._selective:
            self._store_reused(sequence, lease)

    def computed(self, sequence: Sequence) -> None:
        """More of the sequence is published: send down the chunks that are whole now."""
        if self._selective or sequence.lease is None:
            return
        if (sequence.stored + 1) * self._blocks > sequence.lease.shared:
            return
        keys = self._cache.keys(sequence.lease)
        while (sequence.stored + 1) * self._blocks <= sequence.lease.shared:
            if not self._store(sequence, sequence.stored, keys):
                sequence.stored = NEVER  # What follows would be of no use.
                return
            sequence.stored += 1

    def ended(self, sequence: Sequence, visit: Visit) -> None:
        """The sequence is over but still has its lease: the tiers learn which chunks it used."""
        lease = sequence.lease
        if lease is not None and lease.generation == self._cache.generation:
            keys = self._cache.keys(lease)[self._blocks :: self._blocks]
            reused = (visit.prompt_tokens - visit.new_tokens) // self._tokens
            self.tiers.used(keys, reused, visit)

    def _restore(self, sequence: Sequence, begin: int, payload: Buffer, tier: str) -> None:
        lease, size = sequence.lease, self._cache.block_size
        assert lease is not None
        unit, end = self._cache.reuse_unit, begin + self._tokens
        gained = reusable_tokens(end, len(sequence.tokens), unit) - sequence.computed
        if gained <= 0:
            return
        at = begin // size
        skip = max(0, lease.shared - at)  # Those are findable: others read them.
        self._pool.write_blocks(lease.blocks[at + skip : end // size], payload, skip)
        sequence.computed += gained
        sequence.stored = end // self._tokens
        sequence.loaded[tier] += gained
        self.loaded[tier] += gained

    def close(self, seconds: float) -> None:
        """Write what is on its way down, for at most so long."""
        self.tiers.close(seconds)

    def _store_reused(self, sequence: Sequence, lease: Lease) -> None:
        """Send down the chunks that were reused, but those that were sent before."""
        keys = self._cache.keys(lease)
        for index in range(lease.cached_tokens // self._tokens):
            key = keys[(index + 1) * self._blocks]
            if key in self._sent:
                continue
            if not self._store(sequence, index, keys):
                return
            self._sent[key] = None
            if len(self._sent) > SENT:
                del self._sent[next(iter(self._sent))]

    def _store(self, sequence: Sequence, index: int, keys: list[BlockKey]) -> bool:
        lease, chain = sequence.lease, sequence.chain
        assert lease is not None
        space = _persistent(chain.namespace)
        if space is None or lease.generation != self._cache.generation:
            return False
        first, last = index * self._blocks, (index + 1) * self._blocks
        width = self._cache.block_size * TOKEN_BYTES
        return self.tiers.store(
            Record(
                namespace=space,
                key=keys[last],
                parent=keys[first],
                first_position=index * self._tokens,
                tokens=bytes(chain.data[first * width : last * width]),
                created=self._wall_ns(),
                payload=self._pool.read_blocks(lease.blocks[first:last]),
            )
        )


NEVER = 2**62


@lru_cache(maxsize=1024)
def _persistent(namespace: Namespace) -> PersistentNamespace | None:
    try:
        return persistable(namespace)
    except Unpersistable:
        return None
