"""Chunks that nobody asked for yet, put into free blocks of the pool."""

from array import array
from dataclasses import replace

from headstart.cache import BlockKey, Chain, PrefixCache
from headstart.engine.warming import SHARE, Idle
from headstart.model.kv import KVPool
from headstart.stores import Record


class PoolTarget:
    """There they are cached like any other prefix; nothing is given up for them.

    `chunk_blocks`: blocks in a chunk. Parents have to come first.
    """

    def __init__(self, cache: PrefixCache, pool: KVPool, *, chunk_blocks: int) -> None:
        self._cache = cache
        self._pool = pool
        self._blocks = chunk_blocks
        self._left = int(SHARE * cache.total)
        self._known: dict[BlockKey, Record] = {}
        """Without their payloads."""
        self._end: BlockKey | None = None
        self._chain: Chain | None = None
        self._tokens = array("I")

    def take(self, record: Record, idle: Idle) -> bool | None:
        """See Target."""
        with idle() as free:
            if not free:
                return None
            cache = self._cache
            if self._left < self._blocks or cache.available - cache.cached < self._blocks:
                return False
            chain, tokens = self._prefix(record)
            blocks = len(tokens) // cache.block_size
            whole = cache.match(chain, tokens).cached_tokens >= record.first_position
            if whole and chain.keys(blocks)[blocks - 1] == record.key:  # Not after a reset.
                self._write(record, chain, tokens)
            return True

    def _write(self, record: Record, chain: Chain, tokens: "array[int]") -> None:
        first = record.first_position // self._cache.block_size
        lease = self._cache.acquire(chain, tokens)
        if lease is None:
            return
        self._pool.copy_all(self._cache.take_copies())
        skip = max(0, lease.shared - first)
        if places := lease.blocks[first + skip :]:
            self._pool.write_blocks(places, record.payload, skip)
            self._cache.publish(lease, tokens)
            self._left -= len(places)
        self._cache.release(lease)

    def _prefix(self, record: Record) -> tuple[Chain, "array[int]"]:
        """All tokens up to the record's end. Most often it goes on where the last one ended."""
        if self._chain is None or record.parent != self._end:
            parts, at = [], self._known.get(record.parent)
            while at is not None:
                parts.append(at.tokens)
                at = self._known.get(at.parent)
            self._tokens = array("I", b"".join(reversed(parts)))
            self._chain = self._cache.chain(record.namespace.namespace)
        self._tokens.frombytes(record.tokens)
        self._end = record.key
        self._known[record.key] = replace(record, payload=b"")
        return self._chain, self._tokens
