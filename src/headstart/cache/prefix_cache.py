"""The prefix cache: leases over blocks, and the tree in which full ones are found.

A block's life:

    free --take--> private --publish--> findable --last let go--> cached --evict--> free
                      |  (its owner writes it)      ^                |
                      +--release--> free            +----acquire-----+

- Only published blocks are found (never visible before valid), and only whole prefixes: a block's
  parent is findable as long as the block is.
- What is computed of a block that is not full yet can be found too (a *tail*), until something
  findable says the same and more.
- A prefix is matched to the token. Where the match ends inside a block, that part of the block is
  copied into the lease's own (copy on write): `take_copies` says what to copy. The owner of the
  pool runs these copies in order and before anything else writes to the pool, so a source may be
  given up and handed out again in the meantime.
- A lease pins its prefix before anything is allocated for it; one idempotent `release` serves every
  way a request can end. free + cached + leased = total at all times: `audit()`.
- Two leases that computed the same block end up sharing one: the later publisher is given the
  block that is findable and its own copy is freed.
- Where a prompt begins with a prefix that is shared, that part of it lies in the namespace of those
  who share, and its own namespace goes on behind it (a *gate*, see node.py).
- A lease announces the block it fills next, so that others can wait for it instead of computing it
  too; the announcement moves on with the lease and goes with it, however it ends.

Costs: matching compares tokens at memory speed and walks the nodes on the path; everything else is
O(blocks it is about), evictions O(log n). Not thread-safe: the owner serialises.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headstart.cache.audit import audit
from headstart.cache.events import Event, Stored
from headstart.cache.explain import explain
from headstart.cache.hashed import HashIndex
from headstart.cache.index import PrefixIndex
from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain, Namespace
from headstart.cache.lease import Announcement, BlockCopy, Lease
from headstart.cache.node import Found, Node, Root, blocks_to
from headstart.cache.policies import Lru, Policy
from headstart.cache.pool import BlockId, BlockPool
from headstart.cache.radix import RadixIndex
from headstart.cache.report import Miss
from headstart.cache.retention import Pin
from headstart.cache.snapshot import TreeNode, by_last_use, snapshot, stored
from headstart.cache.tree import Tree
from headstart.cache.visit import Visit

INDEXES: dict[str, type[RadixIndex] | type[HashIndex]] = {
    index.name: index for index in (RadixIndex, HashIndex)
}


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


class PrefixCache:
    """Block bookkeeping for a pool of `blocks` blocks of `block_size` tokens.

    `reuse_unit`: hits are cut down to a multiple of it (tokens): 1 reuses every token, else it must
    be a multiple of the block size, and nothing is copied or partly filled.
    `enabled=False` finds and keeps nothing; leases work as ever. `ttl`: seconds without use after
    which a prefix is dropped. `ghosts`: how many lost blocks are remembered, to say why something
    is missing. `retention_budget`: blocks that the pins of one tenant may protect, default half.
    `generation`: where counting resets begins; it is part of every key.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int,
        *,
        reuse_unit: int = 1,
        index: str = RadixIndex.name,
        policy: Policy | None = None,
        enabled: bool = True,
        clock: Callable[[], float] = lambda: 0.0,
        ttl: float | None = None,
        ghosts: int = 0,
        retention_budget: int | None = None,
        generation: int = 0,
    ) -> None:
        if blocks < 1 or block_size < 1:
            raise ValueError("a cache needs at least one block of at least one token")
        if reuse_unit < 1 or (reuse_unit > 1 and reuse_unit % block_size):
            raise ValueError("reuse_unit must be 1 or a positive multiple of block_size")
        self.block_size = block_size
        self.reuse_unit = reuse_unit
        self.enabled = enabled
        self.generation = generation
        self._width = block_size * TOKEN_BYTES
        self._pool = BlockPool(blocks)
        found_by: PrefixIndex = INDEXES[index](block_size)
        self._tree = Tree(
            self._pool,
            block_size,
            found_by,
            Lru() if policy is None else policy,
            clock=clock,
            ttl=ttl,
            ghosts=ghosts,
            retention_budget=blocks // 2 if retention_budget is None else retention_budget,
        )
        self._leases: set[Lease] = set()
        self._announced: Counter[Announcement] = Counter()
        self._copies: list[BlockCopy] = []

    @property
    def total(self) -> int:
        """Blocks in all."""
        return self._pool.total

    @property
    def cached(self) -> int:
        """Blocks that are findable and held by nobody; given up when room is needed."""
        return self._tree.cached

    @property
    def available(self) -> int:
        """Blocks that could be allocated now: free ones and cached ones."""
        return self._pool.free + self._tree.cached

    @property
    def leased(self) -> int:
        """Blocks held by at least one lease."""
        return self.total - self.available

    @property
    def evicted(self) -> int:
        """Blocks given up for others since the start."""
        return self._tree.evicted

    def chain(self, namespace: Namespace, shared: Chain | None = None) -> Chain:
        """An empty chain. Keep it with its sequence: it only grows.

        `shared`: the prefix it will begin with, in whole blocks, of a namespace whose KV is that of
        `namespace` and which `namespace` may see. Only what lies behind it is its own.
        """
        if namespace.block_size != self.block_size:
            raise ValueError("the namespace is of another block size than the cache")
        if shared is not None and (not shared.data or len(shared.data) % self._width):
            raise ValueError("a shared prefix has whole blocks, at least one")
        return Chain(namespace, self.generation, shared)

    def blocks_for(self, tokens: int) -> int:
        """Blocks that hold `tokens` tokens."""
        return -(-tokens // self.block_size)

    def match(self, chain: Chain, tokens: Sequence[int], *, limit: int | None = None) -> Match:
        """What `tokens` would reuse now, of the first `limit` of them where there is a limit.

        Only brings the chain up to date, changes nothing else.
        """
        found, most = self._find(chain, tokens, limit)
        cached = self._usable(found, most, len(tokens))
        return Match(cached, self._coming(chain, found, most, len(tokens), cached))

    def explain(self, chain: Chain, tokens: Sequence[int], *, limit: int | None = None) -> Miss:
        """Why `tokens` would reuse no more than `match` says."""
        found, most = self._find(chain, tokens, limit)
        cached = self._usable(found, most, len(tokens))
        return self._explain(chain, found, most, len(tokens), cached)

    def keys_ahead(
        self, chain: Chain, tokens: Sequence[int], *, limit: int | None = None
    ) -> tuple[int, list[BlockKey]]:
        """How many whole blocks of `tokens` are cached, and the keys of those behind them.

        With a limit, of the first `limit` tokens.
        """
        found, most = self._find(chain, tokens, limit)
        first, last = found.depth, most // self.block_size
        if first < chain.border:
            return first, chain.keys(last)[first:last]
        return first, chain.keys_behind(found.node.key_before(first), first, last)

    def path(self, lease: Lease) -> Node:
        """The end of what the lease shares, as `stretch` and `keys_up` take it.

        Keys on the way there are the lease's namespace's own, also of blocks that are found in
        another one. Only until the next call that changes the cache, or the lease.
        """
        chain, count = lease.chain, lease.shared
        if count >= chain.border:
            return lease.node
        return Root(chain.namespace, chain.root, lease.node, chain.keys(count)[:count])

    def fits(
        self, chain: Chain, tokens: Sequence[int], *, spare: int = 0, limit: int | None = None
    ) -> bool:
        """Whether `acquire` would give a lease now. Changes nothing."""
        found, most = self._find(chain, tokens, limit)
        full = self._usable(found, most, len(tokens)) // self.block_size
        return self.blocks_for(len(tokens)) - full + spare <= self._room_beside(found.node, full)

    def on_leaving(self, told: Callable[[Node, int, int], None]) -> None:
        """Call `told(node, begin, end)` right before these blocks of a path are given up.

        Evicted or expired, not forgotten by a reset. Also, with its gate as `node`, what a
        namespace has of a shared prefix, when nothing of its own stands behind that any more.
        What is in the blocks is still whole then, as is everything before them; `stretch` says what
        it is. It may be called by every method that looks for a prefix, needs room or releases a
        lease, and must not use the cache.
        """
        self._tree.leaving = told

    def by_last_use(self) -> list[Node]:
        """All that is cached, and roots; the node used last first, parents before their children.

        Only while no lease is live.
        """
        return by_last_use(self._tree)

    def touch(self, chain: Chain, tokens: Sequence[int], *, limit: int | None = None) -> None:
        """Count what `tokens` would reuse as used now, so that it is given up last."""
        found, most = self._find(chain, tokens, limit)
        if self._usable(found, most, len(tokens)):
            self._tree.touch(found.beside or found.node)

    def acquire(
        self,
        chain: Chain,
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
        found, most = self._find(chain, tokens, limit)
        cached = self._usable(found, most, len(tokens))
        miss = self._explain(chain, found, most, len(tokens), cached)
        full, part = divmod(cached, self.block_size)
        begun = self._node_at(found, full) if part else None
        source = None if begun is None else begun.block_at(full)
        node = self._tree.cut(found.node, full)
        need = self.blocks_for(len(tokens)) - full
        if need + spare > self._room_beside(node, full):
            self._tree.touch(node)
            return None
        self._tree.hold(node)
        blocks = blocks_to(node)
        if cached:  # Now: what of it is only copied may be given up by the next line.
            self._tree.reuse(begun or node)
            self._tree.refresh(chain, found.depth * self.block_size + found.tokens)
        fresh = self._allocate(need, after=blocks[-1] if blocks else None, room=room)
        if source is not None:
            self._copies.append(BlockCopy(source, fresh[0], part))
        blocks += fresh
        announced = most // self.reuse_unit * self.reuse_unit
        lease = Lease(chain, blocks, cached, node, self.generation, miss, announced)
        self._leases.add(lease)
        self._announce(lease)
        return lease

    def pin(
        self, chain: Chain, tokens: Sequence[int], *, ttl: float, priority: int = 0
    ) -> Pin | None:
        """Keep what is cached of `tokens` until `ttl` seconds without use have passed.

        None if that is nothing. Raises OverBudget where the tenant's budget has no room for it.
        """
        found, _ = self._find(chain, tokens, None)
        kept = found.depth * self.block_size
        beside = found.beside
        if beside is None or (beside.tail and beside.holders):  # Its owner will replace it.
            node = self._tree.cut(found.node, found.depth)
        else:
            kept += found.tokens
            node = beside if beside.tail else self._tree.cut(beside, found.depth + 1)
        if not kept:
            return None
        if isinstance(node, Root) and node.parent is not None:
            node = node.parent
        return self._tree.pin(node, chain, tokens=kept, priority=priority, ttl=ttl)

    def pins(self, tenant: str) -> list[Pin]:
        """The pins of `tenant` that hold."""
        self._tree.expire()
        return [pin for pin in self._tree.retention.pins.values() if pin.tenant == tenant]

    def unpin(self, pin: Pin) -> None:
        """Let a pin go; nothing happens if it is gone already."""
        if self._tree.retention.pins.get(pin.id) is pin:
            self._tree.unpin(pin)

    def trim(self, cached: int) -> None:
        """Give up cached blocks until at most `cached` of them are left."""
        self._tree.trim(cached)

    def take_events(self) -> list[Event]:
        """What became findable and what ceased to be since the last call; keeps track from then."""
        events, self._tree.events = self._tree.events or [], []
        return events

    def findable(self) -> list[Stored]:
        """All that can be found, as if it had just been stored: parents before children."""
        return stored(self._tree)

    def take_copies(self) -> list[BlockCopy]:
        """The copies that leases acquired since the last call rely on, each handed out once.

        Run them in this order, before anything else writes to the pool.
        """
        copies, self._copies = self._copies, []
        return copies

    def grow(self, lease: Lease, tokens: int) -> bool:
        """Make the lease hold blocks for `tokens` tokens. False, and no change, if it can't."""
        if not lease.live:
            return False
        missing = self.blocks_for(tokens) - len(lease.blocks)
        if missing <= 0:
            return True
        if missing > self.available:
            return False
        lease.blocks += self._allocate(missing, after=lease.blocks[-1] if lease.blocks else None)
        return True

    def publish(
        self,
        lease: Lease,
        tokens: Sequence[int],
        computed: int | None = None,
        *,
        tail: bool = False,
    ) -> None:
        """Make findable every full block of the first `computed` tokens (default: all of them).

        Their KV must be written by now. `tail`: also what is computed of the block behind them; the
        lease goes on filling it.

        `lease.blocks` may change: the lease moves to a block that is findable already.
        After a reset the lease keeps its blocks to itself.
        """
        if not (self.enabled and lease.live and lease.generation == self.generation):
            return
        lease.chain.extend(tokens)
        ready = len(tokens) if computed is None else computed
        full, part = divmod(ready, self.block_size)
        if (shared := lease.chain.shared) is not None and lease.shared < lease.chain.border:
            self._publish_blocks(lease, shared, min(full, lease.chain.border))
            self._pass_gate(lease)
        if full > lease.shared:
            self._publish_blocks(lease, lease.chain, full)
        if tail and part and self.reuse_unit == 1 and full == lease.shared:
            self._publish_tail(lease, ready)
        self._announce(lease)

    def release(self, lease: Lease, visit: Visit | None = None) -> None:
        """Give up the lease: what is findable stays cached, the rest is free. Idempotent.

        `visit`: what is known of the request that ends with it; None if it goes on later.
        """
        if not lease.live:
            return
        lease.live = False
        self._leases.remove(lease)
        self._withdraw_announcement(lease)
        private = lease.shared if lease.tail is None else lease.shared + 1
        for block in reversed(lease.blocks[private:]):
            self._pool.give(block)
        end = lease.tail or lease.node
        if lease.generation != self.generation:
            self._tree.drop_stale(end)
            return
        if visit is not None:
            self._tree.end(end, visit)
        self._tree.let_go(end)
        if lease.tail is not None:
            self._tree.drop_if_covered(lease.tail)

    def reset(self, generation: int = 0) -> None:
        """Forget every prefix. Leases stay valid; what they hold is never found again.

        The next generation begins, or `generation` if that is a later one.
        """
        self.generation = max(self.generation + 1, generation)
        self._tree.clear()
        self._announced.clear()
        for lease in self._leases:
            lease.announcement = None

    def tree(self, tenant: str | None, nodes: int) -> list[TreeNode]:
        """What is findable for a tenant, or for all: the `nodes` largest nodes, parents first."""
        return snapshot(self._tree, tenant, nodes)

    def audit(self) -> None:
        """Recompute everything from scratch. Raises CacheCorrupt naming what doesn't add up."""
        audit(self._tree, self._pool, self._leases, self._announced, self.generation)

    def _find(self, chain: Chain, tokens: Sequence[int], limit: int | None) -> tuple[Found, int]:
        """The longest cached prefix of `tokens`, and how many of them may be reused at most."""
        if chain.generation != self.generation:
            chain.rebind(self.generation)
        chain.extend(tokens)
        most = len(tokens) if limit is None else min(limit, len(tokens))
        self._tree.expire()
        tree, size = self._tree, most * TOKEN_BYTES
        if (shared := chain.shared) is None:
            return tree.index.find(tree.root(chain), chain, size), most
        found = tree.index.find(tree.root(shared), shared, min(size, len(shared.data)))
        if found.depth == chain.border:
            found = tree.index.find(tree.gate(chain, found.node), chain, size)
        return found, most

    def _explain(self, chain: Chain, found: Found, most: int, prompt: int, cached: int) -> Miss:
        ceiling = reusable_tokens(most, prompt, self.reuse_unit)
        return explain(
            self._tree,
            found,
            chain,
            most=most,
            ceiling=ceiling,
            prompt=prompt,
            cached=cached,
        )

    def _usable(self, found: Found, most: int, prompt: int) -> int:
        part = found.tokens if self.reuse_unit == 1 else 0
        matched = found.depth * self.block_size + part
        return reusable_tokens(min(matched, most), prompt, self.reuse_unit)

    def _room_beside(self, node: Node, full: int) -> int:
        """Blocks that could be allocated if the first `full` on the way to `node` were held."""
        at: Node | None = node
        while at is not None and not at.holders:
            at = at.parent
        return self.available - max(0, full - (0 if at is None else at.end))

    def _coming(self, chain: Chain, found: Found, most: int, prompt: int, cached: int) -> bool:
        """Whether a live lease is computing the next block, and having that would help."""
        # The end of the next block, or of the unit it lies in. Past the cap there is nothing to
        # wait for: those tokens are computed in any case.
        end = -(-(found.depth + 1) * self.block_size // self.reuse_unit) * self.reuse_unit
        if reusable_tokens(min(most, end), prompt, self.reuse_unit) <= cached:
            return False
        if found.node.end != found.depth:
            return False
        return self._ahead(chain, found.node, most) in self._announced

    def _ahead(self, chain: Chain, node: Node, most: int) -> Announcement:
        begin = node.end * self._width
        end = min(begin + self._width, most * TOKEN_BYTES)
        return Announcement(node, bytes(chain.data[begin:end]))

    def _node_at(self, found: Found, depth: int) -> Node:
        """Where the block at `depth` of the prefix that was found lies."""
        if depth == found.depth:
            assert found.beside is not None
            return found.beside
        node = found.node
        while node.start > depth:
            assert node.parent is not None
            node = node.parent
        return node

    def _allocate(self, count: int, *, after: BlockId | None, room: int = 0) -> list[BlockId]:
        self._tree.evict(count)
        return self._pool.take(count, after=after, room=room)

    def _pass_gate(self, lease: Lease) -> None:
        """Where the lease has come to the end of what is shared, its own namespace begins."""
        if lease.shared == lease.chain.border:
            gate = self._tree.gate(lease.chain, lease.node)
            self._tree.hold(gate)
            self._tree.let_go(lease.node)
            lease.node = gate

    def _publish_blocks(self, lease: Lease, chain: Chain, full: int) -> None:
        """Make findable the blocks up to `full` of `chain`, or move to those that are."""
        width, first = self._width, lease.shared
        if full <= first:
            return
        if lease.tail is not None:
            self._tree.remove_tail(lease.tail)
            lease.tail = None
        data = bytes(chain.data[first * width : full * width])
        keys = chain.keys_behind(lease.node.keys[-1], first, full)
        while (at := lease.shared) < full:
            rest = data[(at - first) * width :]
            known = lease.node.children.get(rest[:width])
            if known is not None:
                self._share(lease, known, rest)
                continue
            self._tree.drop_covered(lease.node, rest[:width])
            lease.node = self._tree.extend(
                lease.node, rest, lease.blocks[at:full], keys[at - first :]
            )

    def _share(self, lease: Lease, known: Node, ahead: bytes) -> None:
        """Move on to the blocks of `known` that hold the same tokens as the lease's next ones."""
        width, at = self._width, lease.shared
        count = 1
        while (
            count * width < min(len(ahead), len(known.label))
            and known.label[count * width : (count + 1) * width]
            == ahead[count * width : (count + 1) * width]
        ):
            count += 1
        node = self._tree.cut(known, known.start + count)
        self._tree.hold(node)
        self._tree.let_go(lease.node)
        lease.node = node
        for place in range(at, at + count):
            self._pool.give(lease.blocks[place])
            lease.blocks[place] = node.block_at(place)

    def _publish_tail(self, lease: Lease, ready: int) -> None:
        node = lease.node
        label = bytes(lease.chain.data[node.end * self._width : ready * TOKEN_BYTES])
        if node.children.nearest(label)[1] * TOKEN_BYTES == len(label):
            return  # Found already, as far as it goes.
        if lease.tail is not None:
            self._tree.remove_tail(lease.tail)
        self._tree.drop_covered(node, label)
        lease.tail = self._tree.add_tail(node, label, lease.blocks[node.end])

    def _announce(self, lease: Lease) -> None:
        self._withdraw_announcement(lease)
        if self.enabled and lease.shared * self.block_size < lease.announced_tokens:
            ahead = self._ahead(lease.chain, lease.node, lease.announced_tokens)
            self._announced[ahead] += 1
            lease.announcement = ahead

    def _withdraw_announcement(self, lease: Lease) -> None:
        ahead, lease.announcement = lease.announcement, None
        if ahead is not None:
            self._announced[ahead] -= 1
            if not self._announced[ahead]:
                del self._announced[ahead]
