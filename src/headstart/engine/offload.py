"""KV between the pool and the tiers: chunks go down, and come up on arrival.

A chunk is a fixed number of blocks, counted from the prompt's begin. When it goes down is chosen:

- `through`: when it is computed.
- `selective`: when it is reused for the first time.
- `back`: when it leaves the pool, and what is in the pool at the end when the process ends.

The first two send a prompt's chunks in order, to each tier at its own pace: what a tier has no room
for, or declines, is offered again as long as the sequence runs, and when the prefix is used next.
The last one sees the ends of prompts leave first. All methods are called by whoever holds the
engine's lock, `close` when nothing runs any more; the tiers do their work elsewhere.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from functools import lru_cache
from time import sleep
from typing import Literal

from headstart.cache import (
    Lease,
    Namespace,
    PrefixCache,
    Stretch,
    Visit,
    keys_up,
    reusable_tokens,
    stretch,
)
from headstart.cache.keys import BlockKey
from headstart.cache.node import Node, Root
from headstart.engine.sequence import Sequence
from headstart.engine.shared import EVERYBODY
from headstart.model.kv import KVPool
from headstart.stores import PersistentNamespace, Record, Unpersistable, persistable
from headstart.stores.codec import Buffer
from headstart.stores.tiers import Tiers
from headstart.stores.writer import Writer

UNKNOWN_WORTH = 0.25
"""Seconds a chunk is taken to cost as long as no prefill was measured."""
MEASURED_TOKENS = 64
"""A step of so many tokens is prefill, most of it."""
OWED = 65_536
"""Chunks that are remembered to be of use only together with one that has gone down."""
TICK = 0.01
"""Seconds between two looks whether a tier has room again, when the process ends."""


class Offload:
    """`chunk_blocks`: blocks in a chunk. `write`: when chunks go down."""

    def __init__(
        self,
        tiers: Tiers,
        cache: PrefixCache,
        pool: KVPool,
        *,
        chunk_blocks: int,
        write: Literal["through", "selective", "back"],
        clock: Callable[[], float],
        wall_ns: Callable[[], int],
    ) -> None:
        self.tiers = tiers
        self._cache = cache
        self._pool = pool
        self._blocks = chunk_blocks
        self._tokens = chunk_blocks * cache.block_size
        self._write = write
        self._wall_ns = wall_ns
        self._clock = clock
        self.settled: Callable[[], None] = lambda: None
        """Called from another thread when a sequence need not wait any longer."""
        self._seconds_per_token: float | None = None
        self._owed: OrderedDict[BlockKey, None] = OrderedDict()
        self.loaded = Counter[str]()
        """Tokens brought up since start, by tier."""
        if write == "back":
            cache.on_leaving(self._leaving)

    def prefilled(self, tokens: int, seconds: float) -> None:
        """Learn what computing costs from a step that did little else."""
        if tokens >= MEASURED_TOKENS:
            new, old = seconds / tokens, self._seconds_per_token
            self._seconds_per_token = new if old is None else old + 0.2 * (new - old)

    def waits(self, sequence: Sequence) -> bool:
        """Whether more of the sequence may still come from the tiers."""
        return sequence.load is not None and sequence.load.pending(self._clock())

    def begin(self, sequence: Sequence, limit: int | None = None) -> None:
        """A prompt has arrived, or is about to be admitted again: look for what the pool lacks.

        Nothing is asked for behind `limit` tokens.
        """
        space = _persistent(sequence.chain.namespace)
        if space is None:
            return
        depth, keys = self._cache.keys_ahead(sequence.chain, sequence.tokens, limit=limit)
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
        for writer in self.tiers.writers:
            sequence.sent[writer.tier.name] = self._sent(lease, writer)
        self.computed(sequence)

    def computed(self, sequence: Sequence) -> None:
        """More of the sequence is published: send down what may go and what there is room for."""
        lease, total = sequence.lease, max(1, len(sequence.tokens) // self._tokens)
        if lease is None:
            return
        whole, path = self._whole(lease), self._cache.path(lease)
        while places := {
            writer: sequence.sent[writer.tier.name]
            for writer in self.tiers.writers
            if sequence.sent.setdefault(writer.tier.name, 0) < whole
            and writer.has_room(self.tiers.chunk_bytes, sequence.sent[writer.tier.name] / total)
        }:
            at = min(places.values())
            part = stretch(path, at * self._blocks, (at + 1) * self._blocks)
            takers = []
            for writer in [writer for writer, place in places.items() if place == at]:
                follows = not at or writer.has(part.parent)
                sequence.sent[writer.tier.name] += 1 if follows else -1
                if follows and not writer.has(part.key):
                    takers.append(writer)
            self._put(part, takers, in_order=True)

    def released(self, sequence: Sequence) -> None:
        """The sequence is about to give up its lease: the last chance for what is still here."""
        self.computed(sequence)
        if sequence.lease is not None:
            whole = self._whole(sequence.lease)
            for writer in self.tiers.writers:
                self.tiers.dropped(writer, max(0, whole - sequence.sent[writer.tier.name]))

    def close(self, seconds: float, *, flush: bool) -> None:
        """Write what is on its way down, for at most so long.

        `flush`: with `back`, also what is in the pool; its KV must be right, and nothing may run.
        """
        deadline = self._clock() + seconds
        if flush and self._write == "back":
            self._flush(deadline)
        self.tiers.close(max(0.0, deadline - self._clock()))

    def ended(self, sequence: Sequence, visit: Visit) -> None:
        """The sequence is over but still has its lease: the tiers learn which chunks it used."""
        lease = sequence.lease
        if lease is not None and lease.generation == self._cache.generation:
            whole = lease.shared // self._blocks * self._blocks
            keys = list(keys_up(self._cache.path(lease), whole, self._blocks))[::-1]
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
        sequence.loaded[tier] += gained
        self.loaded[tier] += gained

    def _whole(self, lease: Lease) -> int:
        """How many of the leading chunks may go down now."""
        stale = lease.generation != self._cache.generation
        if self._write == "back" or stale or _persistent(lease.chain.namespace) is None:
            return 0
        if self._write == "selective":
            return min(lease.cached_tokens // self._tokens, lease.shared // self._blocks)
        return lease.shared // self._blocks

    def _sent(self, lease: Lease, writer: Writer) -> int:
        """How many of the leading chunks need not be offered: up to the last that the tier has."""
        count = self._whole(lease)
        for key in keys_up(self._cache.path(lease), count * self._blocks, self._blocks):
            if writer.has(key):
                break
            count -= 1
        return count

    def _leaving(self, node: Node, begin: int, end: int) -> None:
        """Blocks are about to be given up: send down the chunks that end in them, deepest first.

        A chunk is of no use without those before it, so these are owed from now on: they may use
        the part of the queue that others leave free. What a namespace has of a shared prefix may be
        said to leave whenever a request ends, so a tier isn't given that again.
        """
        again = not isinstance(node, Root)
        for last in range(end // self._blocks * self._blocks, begin, -self._blocks):
            part = stretch(node, last - self._blocks, last)
            if _persistent(part.namespace) is None:
                return
            lacking = [each for each in self.tiers.writers if again or not each.has(part.key)]
            room = self.tiers.takers(0.0 if part.key in self._owed else 1.0)
            takers = [writer for writer in lacking if writer in room]
            self._owed.pop(part.key, None)
            for writer in lacking:
                self.tiers.dropped(writer, int(writer not in takers))
            self._put(part, takers, in_order=False)
            if takers and part.first:
                self._owed[part.parent] = None
                if len(self._owed) > OWED:
                    self._owed.popitem(last=False)

    def _flush(self, deadline: float) -> None:
        """Send down what is cached, what was used last first, to each tier at its own pace."""
        left = {w: self._cached_chunks() for w in self.tiers.writers if w.tier.lasting}
        while left and self._clock() < deadline:
            ready = [writer for writer in left if writer.has_room(self.tiers.chunk_bytes, 0.0)]
            for writer in ready:
                if (part := next(left[writer], None)) is None:
                    del left[writer]
                else:
                    self._put(part, [writer], in_order=True)
            if not ready:
                if all(writer.declines for writer in left):
                    return
                sleep(TICK)

    def _cached_chunks(self) -> Iterator[Stretch]:
        for node in self._cache.by_last_use():
            first = 0 if isinstance(node, Root) else node.start // self._blocks
            for at in range(first, node.end // self._blocks):
                yield stretch(node, at * self._blocks, (at + 1) * self._blocks)

    def _put(self, part: Stretch, takers: list[Writer], *, in_order: bool) -> None:
        space = _persistent(part.namespace)
        if space is None or not takers:
            return
        record = Record(
            namespace=space,
            key=part.key,
            parent=part.parent,
            first_position=part.first * self._cache.block_size,
            tokens=part.tokens,
            created=self._wall_ns(),
            payload=self._pool.read_blocks(part.blocks),
        )
        for writer in takers:
            writer.put(record, in_order=in_order)


@lru_cache(maxsize=1024)
def _persistent(namespace: Namespace) -> PersistentNamespace | None:
    """None also for what tenants share: in the tiers each of them has a copy of its own."""
    if namespace.tenant == EVERYBODY:
        return None
    try:
        return persistable(namespace)
    except Unpersistable:
        return None
