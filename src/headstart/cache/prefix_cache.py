"""The prefix cache: leases over blocks, and the index that finds full ones by their key.

A block's life:

    free --take--> private --publish--> findable --last release--> cached --evict--> free
                      |  (its owner writes it)        ^                |
                      +--release--> free              +----acquire-----+

- Only published blocks are found (never visible before valid), and only whole prefixes: a block's
  parent is in the index as long as the block is.
- A lease pins every block it names before anything is allocated for it; one idempotent `release`
  serves every way a request can end. free + cached + leased = total at all times: `audit()`.
- Two leases that computed the same block end up sharing one: the later publisher is given the
  block that is in the index and its own copy is freed.
- A lease announces the blocks it is about to fill, so that others can wait for them instead of
  computing them too; the announcement goes with the lease, however it ends.

Every method is O(blocks it is about), evictions O(log n). Not thread-safe: the owner serialises.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache.keys import BlockKey, KeyChain, Namespace
from headstart.cache.lru import LeafLru
from headstart.cache.pool import BlockId, BlockPool

NO_BLOCK = BlockId(-1)


def reusable_tokens(matched: int, prompt: int, unit: int) -> int:
    """How many of `matched` cached tokens a prompt may reuse: whole units, and never all of it.

    At least one token must be computed, since the cache holds KV and no logits.
    """
    return max(0, min(matched, prompt - 1)) // unit * unit


@dataclass(frozen=True, slots=True)
class Match:
    """What a prompt would find now."""

    cached_tokens: int
    """Reusable at once."""
    coming: bool
    """The block right behind them is being computed by a live lease."""


@dataclass(slots=True, eq=False)
class Lease:
    """The blocks one sequence holds. Owned by the cache: read it, change it through the cache."""

    chain: KeyChain
    blocks: list[BlockId]
    cached_tokens: int
    """Reused at acquisition: the length of the prefix that need not be computed."""
    shared: int
    """Leading blocks that are in the index, unless there was a reset since."""
    generation: int
    announced: list[BlockKey]
    live: bool = True


@dataclass(slots=True)
class _Block:
    refs: int = 0
    key: BlockKey | None = None
    parent: BlockId = NO_BLOCK
    children: int = 0
    depth: int = 0
    stamp: int = 0


class PrefixCache:
    """Block bookkeeping for a pool of `blocks` blocks of `block_size` tokens.

    `reuse_unit`: hits are cut down to a multiple of it (tokens); a multiple of the block size.
    `enabled=False` finds and keeps nothing; leases work as ever.
    """

    def __init__(
        self, blocks: int, block_size: int, *, reuse_unit: int | None = None, enabled: bool = True
    ) -> None:
        if blocks < 1 or block_size < 1:
            raise ValueError("a cache needs at least one block of at least one token")
        self.block_size = block_size
        self.reuse_unit = block_size if reuse_unit is None else reuse_unit
        if self.reuse_unit < 1 or self.reuse_unit % block_size:
            raise ValueError("reuse_unit must be a positive multiple of block_size")
        self.enabled = enabled
        self.generation = 0
        self.evicted = 0
        self._pool = BlockPool(blocks)
        self._blocks = [_Block() for _ in range(blocks)]
        self._index: dict[BlockKey, BlockId] = {}
        self._announced: dict[BlockKey, Lease] = {}
        self._leaves = LeafLru()
        self._leases: set[Lease] = set()
        self._cached = 0
        self._serial = 0

    @property
    def total(self) -> int:
        """Blocks in all."""
        return self._pool.total

    @property
    def cached(self) -> int:
        """Blocks that are findable and held by nobody; given up when room is needed."""
        return self._cached

    @property
    def available(self) -> int:
        """Blocks that could be allocated now: free ones and cached ones."""
        return self._pool.free + self._cached

    @property
    def leased(self) -> int:
        """Blocks held by at least one lease."""
        return self.total - self.available

    def chain(self, namespace: Namespace) -> KeyChain:
        """An empty key chain. Keep it with its sequence: it only grows."""
        if namespace.block_size != self.block_size:
            raise ValueError("the namespace is of another block size than the cache")
        return KeyChain(namespace, self.generation)

    def blocks_for(self, tokens: int) -> int:
        """Blocks that hold `tokens` tokens."""
        return -(-tokens // self.block_size)

    def match(self, chain: KeyChain, tokens: Sequence[int], *, limit: int | None = None) -> Match:
        """What `tokens` would reuse now, of the first `limit` of them where there is a limit.

        Only brings the chain up to date, changes nothing else.
        """
        if chain.generation != self.generation:
            chain.rebind(self.generation)
        chain.extend(tokens)
        most = len(tokens) if limit is None else min(limit, len(tokens))
        found = self._found(chain.keys)
        cached = reusable_tokens(min(found * self.block_size, most), len(tokens), self.reuse_unit)
        # Past the cap there is nothing to wait for: those tokens are computed in any case.
        worth_waiting = found * self.block_size < reusable_tokens(
            most, len(tokens), self.reuse_unit
        )
        return Match(cached, worth_waiting and chain.keys[found] in self._announced)

    def touch(self, chain: KeyChain, tokens: Sequence[int], *, limit: int | None = None) -> None:
        """Count what `tokens` would reuse as used now, so that it is given up last.

        The deepest of those blocks is enough: the others outlive it. O(log n).
        """
        cached = self.match(chain, tokens, limit=limit).cached_tokens
        if not cached:
            return
        deepest = self._index[chain.keys[cached // self.block_size - 1]]
        self._serial += 1
        self._blocks[deepest].stamp = self._serial
        self._offer(deepest)

    def acquire(
        self,
        chain: KeyChain,
        tokens: Sequence[int],
        *,
        room: int = 0,
        spare: int = 0,
        limit: int | None = None,
    ) -> Lease | None:
        """Pin the cached prefix of `tokens` and allocate the blocks for the rest of them.

        `room`: blocks the sequence may still grow by, a hint for placement. `spare`: blocks that
        must stay available to others. `limit`: nothing behind so many tokens is reused or
        announced. None when the pool can't give that now; then nothing is held.
        """
        match = self.match(chain, tokens, limit=limit)
        hits = [self._index[key] for key in chain.keys[: match.cached_tokens // self.block_size]]
        for block in hits:
            self._pin(block)
        need = self.blocks_for(len(tokens)) - len(hits)
        fresh = None
        if need + spare <= self.available:
            fresh = self._allocate(need, after=hits[-1] if hits else None, room=room)
        if fresh is None:
            self._unpin(hits)
            return None
        lease = Lease(chain, hits + fresh, match.cached_tokens, len(hits), self.generation, [])
        self._leases.add(lease)
        if self.enabled:
            most = len(tokens) if limit is None else min(limit, len(tokens))
            last = most // self.reuse_unit * self.reuse_unit // self.block_size
            for key in chain.keys[len(hits) : last]:
                if key not in self._index and key not in self._announced:
                    self._announced[key] = lease
                    lease.announced.append(key)
        return lease

    def grow(self, lease: Lease, tokens: int) -> bool:
        """Make the lease hold blocks for `tokens` tokens. False, and no change, if it can't."""
        if not lease.live:
            return False
        missing = self.blocks_for(tokens) - len(lease.blocks)
        if missing <= 0:
            return True
        fresh = self._allocate(missing, after=lease.blocks[-1] if lease.blocks else None)
        if fresh is None:
            return False
        lease.blocks.extend(fresh)
        return True

    def publish(self, lease: Lease, tokens: Sequence[int], computed: int | None = None) -> None:
        """Make findable every full block of the first `computed` tokens (default: all of them).

        Their KV must be written by now.

        `lease.blocks` may change: the lease moves to a block that the index has already.
        After a reset the lease keeps its blocks to itself.
        """
        if not (self.enabled and lease.live and lease.generation == self.generation):
            return
        lease.chain.extend(tokens)
        ready = len(tokens) if computed is None else computed
        for at in range(lease.shared, ready // self.block_size):
            self._publish_block(lease, at)

    def release(self, lease: Lease) -> None:
        """Give up the lease: findable blocks stay cached, private ones are free. Idempotent."""
        if not lease.live:
            return
        lease.live = False
        self._leases.remove(lease)
        for key in lease.announced:
            if self._announced.get(key) is lease:
                del self._announced[key]
        self._unpin(lease.blocks)

    def reset(self) -> None:
        """Forget every key. Leases stay valid; what they hold is never found again."""
        self.generation += 1
        self._index.clear()
        self._announced.clear()
        self._leaves.clear()
        for at, block in enumerate(self._blocks):
            if block.key is not None:
                block.key, block.parent, block.children = None, NO_BLOCK, 0
                if not block.refs:
                    self._pool.give(BlockId(at))
        self._cached = 0

    def _found(self, keys: Sequence[BlockKey]) -> int:
        """How many leading keys are in the index: a bisection, since the index is prefix-closed."""
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] in self._index:
                low = middle + 1
            else:
                high = middle
        return low

    def _allocate(
        self, count: int, *, after: BlockId | None, room: int = 0
    ) -> list[BlockId] | None:
        if count > self.available:
            return None
        while self._pool.free < count:
            self._evict(self._leaves.pop())
        fresh = self._pool.take(count, after=after, room=room)
        for block in fresh:
            self._blocks[block].refs = 1
        return fresh

    def _publish_block(self, lease: Lease, at: int) -> None:
        key, own = lease.chain.keys[at], lease.blocks[at]
        known = self._index.get(key)
        if known is None:
            parent = lease.blocks[at - 1] if at else NO_BLOCK
            block = self._blocks[own]
            block.key, block.parent, block.depth = key, parent, at
            self._index[key] = own
            if at:
                self._blocks[parent].children += 1
        else:
            self._pin(known)
            lease.blocks[at] = known
            self._unpin([own])
        if self._announced.get(key) is lease:
            del self._announced[key]
        lease.shared = at + 1

    def _pin(self, at: BlockId) -> None:
        block = self._blocks[at]
        if not block.refs:
            self._leaves.discard(at)
            self._cached -= 1
        block.refs += 1

    def _unpin(self, blocks: Sequence[BlockId]) -> None:
        self._serial += 1
        for at in blocks:
            block = self._blocks[at]
            block.refs -= 1
            if block.refs:
                continue
            if block.key is None:
                self._pool.give(at)
                continue
            block.stamp = self._serial
            self._cached += 1
            self._offer(at)

    def _offer(self, at: BlockId) -> None:
        block = self._blocks[at]
        if block.key is not None and not block.refs and not block.children:
            self._leaves.add(at, stamp=block.stamp, depth=block.depth)

    def _evict(self, at: BlockId) -> None:
        block = self._blocks[at]
        assert block.key is not None
        del self._index[block.key]
        parent, block.key, block.parent = block.parent, None, NO_BLOCK
        self._cached -= 1
        self.evicted += 1
        self._pool.give(at)
        if parent != NO_BLOCK:
            self._blocks[parent].children -= 1
            self._offer(parent)

    def audit(self) -> None:
        """Recompute every count from scratch. Raises CacheCorrupt naming what doesn't add up."""
        held = Counter(block for lease in self._leases for block in lease.blocks)
        children = Counter(b.parent for b in self._blocks if b.key is not None)
        for number, block in enumerate(self._blocks):
            at = BlockId(number)
            free = self._pool.is_free(at)
            idle = block.key is not None and not block.refs
            leaf = idle and not block.children
            _check(block.refs == held[at], at, f"{block.refs} references, {held[at]} holders")
            _check(free == (not block.refs and block.key is None), at, "free and used at once")
            _check((at in self._leaves) == leaf, at, "wrongly (un)evictable")
            _check(block.children == children[at], at, f"{block.children} children counted")
            if block.key is not None:
                self._audit_findable(at, block)
        for lease in self._leases:
            self._audit_lease(lease)
        keyed = [block for block in self._blocks if block.key is not None]
        _check(len(self._index) == len(keyed), None, "index and blocks differ in number")
        _check(self._cached == sum(not block.refs for block in keyed), None, "cached count is off")
        _check(self._pool.free + self._cached + len(held) == self.total, None, "blocks are lost")
        _check(
            all(lease.live for lease in self._announced.values()), None, "a dead lease announces"
        )

    def _audit_findable(self, at: BlockId, block: _Block) -> None:
        assert block.key is not None
        _check(self._index.get(block.key) == at, at, "not where the index says")
        if block.parent == NO_BLOCK:
            _check(block.depth == 0, at, "a root at the wrong depth")
            return
        parent = self._blocks[block.parent]
        _check(parent.key is not None, at, "cached without its parent")
        _check(parent.refs >= block.refs, at, "pinned without its parent")
        _check(parent.depth == block.depth - 1, at, "at the wrong depth")

    def _audit_lease(self, lease: Lease) -> None:
        _check(lease.live, None, "a dead lease holds blocks")
        if lease.generation != self.generation:
            return
        parent = NO_BLOCK
        for at, key in zip(lease.blocks[: lease.shared], lease.chain.keys, strict=False):
            _check(self._index.get(key) == at, at, "shared under another key than the index has")
            _check(self._blocks[at].parent == parent, at, "out of order in its lease")
            parent = at


class CacheCorrupt(AssertionError):
    """The bookkeeping contradicts itself: a defect of this package, never of a request."""


def _check(holds: bool, block: BlockId | None, complaint: str) -> None:
    if not holds:
        raise CacheCorrupt(complaint if block is None else f"block {block}: {complaint}")
