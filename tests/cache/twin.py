"""The real cache and the oracle side by side: every operation is done to both, then compared.

A third witness is a pretended KV memory, one note per block of what was computed into it: whatever
the bookkeeping says, a lease must read its own tokens' KV.
"""

from array import array
from collections.abc import Sequence as Tokens
from dataclasses import dataclass
from itertools import takewhile

from tests.cache.build import namespace
from tests.cache.oracle import EVERYBODY, Cell, Held, Oracle, Prefix, Promise, Space

from headstart.cache import (
    BlockKey,
    Chain,
    Lease,
    Match,
    Namespace,
    OverBudget,
    Pin,
    PrefixCache,
    Stretch,
    keys_up,
    reusable_tokens,
    stretch,
)
from headstart.cache.keys import block_key
from headstart.cache.node import Node
from headstart.cache.policies import Lru

TENANTS = ("acme", "globex")

Choice = tuple[int, Prefix] | None
"""What a pin may keep: so many tokens, up to the end of that cell; None is nothing."""

Written = tuple[Space, int, tuple[int, ...]]
"""Whose, generation, and all tokens up to the last one whose KV is in the block."""


@dataclass(eq=False)
class Holding:
    """One lease as both sides see it."""

    lease: Lease
    held: Held


@dataclass(frozen=True)
class Load:
    """What is on its way up from a tier for a request that waits."""

    generation: int
    first: int
    """Its first block."""
    blocks: list[Written]


@dataclass(eq=False)
class Sequence:
    """A request as an engine keeps it: tokens so far, and how many of them have KV."""

    space: Space
    tokens: list[int]
    chain: Chain
    holding: Holding | None = None
    computed: int = 0
    load: Load | None = None


@dataclass(eq=False)
class Pinning:
    """One pin as both sides see it."""

    pin: Pin
    promise: Promise


class Splits(Lru):
    """Least recently used; counts the edges that were split while someone held them."""

    def __init__(self) -> None:
        super().__init__()
        self.held = 0

    def split(self, upper: Node, lower: Node) -> None:
        super().split(upper, lower)
        self.held += lower.holders > 0


class Twin:
    """Holds the two to each other; `check` after every step."""

    def __init__(
        self,
        blocks: int,
        size: int,
        *,
        index: str = "radix",
        factor: int = 0,
        enabled: bool = True,
        lazy: bool = False,
        ttl: float | None = None,
        declared: Tokens[Tokens[int]] = (),
    ) -> None:
        """Hits are multiples of `factor` blocks, of one token if 0. `lazy`: copies run late.

        `declared`: prefixes that all tenants share, as the token that fills each of their blocks.
        """
        unit = size * factor or 1
        self.oracle = Oracle(blocks, size, unit, enabled, ttl)
        self.cache = PrefixCache(
            blocks,
            size,
            reuse_unit=unit,
            index=index,
            policy=(splits := Splits()),
            enabled=enabled,
            clock=lambda: self.oracle.now,
            ttl=ttl,
        )
        self.sequences: list[Sequence] = []
        self.pins: list[Pinning] = []
        self._lazy = lazy
        self._copies_due = False
        self._written: dict[int, Written] = {}
        self._place: dict[Cell, int] = {}
        self.splits = splits
        self.loaded = 0
        """Tokens that came up from the tier."""
        self.declared = [tuple(each for each in fill for _ in range(size)) for fill in declared]
        self._weights = 0
        self._chunk = factor or 1
        """Blocks that go down and come up together."""
        self._tier: dict[BlockKey, Written] = {}
        self.cache.on_leaving(self._leave)

    def start(self, tenant: str, tokens: list[int]) -> Sequence:
        """A request nobody has looked at yet."""
        space = self._space(tenant, tokens)
        sequence = Sequence(space, tokens, self._chain(space))
        self.sequences.append(sequence)
        return sequence

    def acquire(
        self, sequence: Sequence, *, room: int = 0, spare: int = 0, limit: int | None = None
    ) -> bool:
        """Admit a request, or see both sides refuse it."""
        held = self.oracle.acquire(sequence.space, sequence.tokens, spare, limit)
        lease = self.cache.acquire(
            sequence.chain, sequence.tokens, room=room, spare=spare, limit=limit
        )
        assert (lease is None) == (held is None), f"cache: {lease}, oracle: {held}"
        if lease is None or held is None:
            return False
        assert lease.cached_tokens == held.cached_tokens
        sequence.holding = Holding(lease, held)
        sequence.computed = lease.cached_tokens
        self._copies_due = True
        self._land(sequence, lease)
        return True

    def send_down(self, sequence: Sequence) -> None:
        """Write what it has published to the tier, as the engine does."""
        assert sequence.holding is not None
        lease = sequence.holding.lease
        if lease.generation != self.cache.generation:
            return
        path = self.cache.path(lease)
        keys = list(keys_up(path, lease.shared, 1))
        assert len(keys) == lease.shared
        for at, key in enumerate(reversed(keys)):
            part = stretch(path, at, at + 1)
            assert (part.key, part.blocks) == (key, [lease.blocks[at]])
            assert part.namespace == self._namespace(sequence.space)
            self._keep(part)

    def _leave(self, node: Node, begin: int, end: int) -> None:
        """The same for what the pool gives up."""
        for at in range(begin, end):
            self._keep(stretch(node, at, at + 1))

    def _keep(self, part: Stretch) -> None:
        (block,) = part.blocks
        written = self._written[block]
        assert tuple(array("I", part.tokens)) == written[2][part.first * self.oracle.size :]
        assert part.key == block_key(part.parent, part.tokens)
        assert self._tier.setdefault(part.key, written) == written, "one key for two contents"

    def ask_tier(self, sequence: Sequence) -> None:
        """What follows its cached prefix begins to come up; it lands when it is admitted."""
        self._settle()
        depth, keys = self.cache.keys_ahead(sequence.chain, sequence.tokens)
        assert depth == self.oracle.found(sequence.space, sequence.tokens)
        assert len(keys) == len(sequence.tokens) // self.oracle.size - depth
        coming = list(takewhile(self._tier.__contains__, keys))
        blocks = [self._tier[key] for key in coming]
        sequence.load = Load(self.cache.generation, depth, blocks)

    def _land(self, sequence: Sequence, lease: Lease) -> None:
        """Write what has come up into the lease, and publish it."""
        load, sequence.load = sequence.load, None
        if load is None or lease.generation != load.generation:
            return
        self._run_copies()
        before, size = sequence.computed, self.oracle.size
        last = (load.first + len(load.blocks)) // self._chunk * self._chunk
        for begin in range(load.first // self._chunk * self._chunk, last, self._chunk):
            end = reusable_tokens(
                (begin + self._chunk) * size, len(sequence.tokens), self.oracle.unit
            )
            if begin * size > sequence.computed or begin < load.first or end <= sequence.computed:
                continue
            sequence.computed = end
            for at in range(max(begin, lease.shared), begin + self._chunk):
                space, generation, known = load.blocks[at - load.first]
                self._written[lease.blocks[at]] = space, generation, known[:end]
        self.loaded += sequence.computed - before
        self.publish(sequence, sequence.computed, tail=False)

    def compute(self, sequence: Sequence, count: int) -> None:
        """Write the KV of the next `count` tokens."""
        assert sequence.holding is not None
        self._run_copies()
        lease, size = sequence.holding.lease, self.oracle.size
        first = sequence.computed // size
        sequence.computed = min(sequence.computed + count, len(sequence.tokens))
        others = {
            block
            for other in self.sequences
            if other.holding is not None and other is not sequence
            for block in other.holding.lease.blocks
        }
        for at in range(first, -(-sequence.computed // size)):
            assert lease.blocks[at] not in others, "writes into a block that another reads"
            self._written[lease.blocks[at]] = self._expected(sequence, at)

    def publish(self, sequence: Sequence, computed: int, *, tail: bool = True) -> None:
        """Make findable what the first `computed` tokens fill."""
        assert sequence.holding is not None
        self.cache.publish(sequence.holding.lease, sequence.tokens, computed, tail=tail)
        self.oracle.publish(sequence.holding.held, sequence.tokens, computed, tail)

    def append(self, sequence: Sequence, tokens: list[int]) -> bool:
        """Generate tokens, if the pool has room for them."""
        assert sequence.holding is not None
        length = len(sequence.tokens) + len(tokens)
        grown = self.cache.grow(sequence.holding.lease, length)
        assert grown == self.oracle.grow(sequence.holding.held, length)
        if grown:
            sequence.tokens += tokens
        return grown

    def release(self, sequence: Sequence, times: int = 1) -> None:
        """End or preempt it."""
        assert sequence.holding is not None
        for _ in range(times):
            self.cache.release(sequence.holding.lease)
        self.oracle.release(sequence.holding.held)
        sequence.holding = None
        sequence.computed = 0

    def reset(self) -> None:
        """Forget all."""
        self.cache.reset()
        self.oracle.reset()

    def reload(self) -> None:
        """Requests from now on are for other weights; what runs or waits goes on with the old."""
        self._weights += 1

    def trim(self, cached: int) -> None:
        """Evict until at most so many blocks are cached."""
        self.cache.trim(cached)
        self.oracle.trim(cached)

    def pin(self, tenant: str, tokens: list[int], *, priority: int, ttl: float) -> None:
        """Keep what is cached of `tokens`."""
        space = self._space(tenant, tokens)
        choices = self.oracle.may_keep(space, tokens)
        chain = self._chain(space)
        try:
            pin = self.cache.pin(chain, tokens, priority=priority, ttl=ttl)
        except OverBudget:
            if not any(choice and self._too_long(choice[1]) for choice in choices):
                self._refuse(space, choices, priority=priority, ttl=ttl, tokens=tokens)
            return
        if pin is None:
            assert None in choices
            return
        known = prefix_to(pin.node)
        end = space.of(len(known)), known
        assert (pin.tokens, end) in choices
        promise = self.oracle.pin(space, tokens[: pin.tokens], end, priority=priority, ttl=ttl)
        if all(pinning.pin is not pin for pinning in self.pins):
            self.pins.append(Pinning(pin, promise))

    def _too_long(self, end: Prefix) -> bool:
        """Whether a pin up to there is over the budget by itself."""
        space, known = end
        return len(known) - len(space.shared) > self.oracle.budget * self.oracle.size

    def _refuse(
        self,
        space: Space,
        choices: set[Choice],
        *,
        priority: int,
        ttl: float,
        tokens: list[int],
    ) -> None:
        """The new pin is weaker than all it leaves: one of what it could have kept says so."""
        live = {pin for tenant in TENANTS for pin in self.cache.pins(tenant)}
        there = [pinning.promise for pinning in self.pins if pinning.pin in live]
        for kept, end in filter(None, choices):
            promise = Promise(
                space, tuple(tokens[:kept]), end, priority, ttl, self.oracle.now + ttl
            )
            if self.oracle.with_promise(promise) == [p for p in self.oracle.promises if p in there]:
                for gone in [p for p in self.oracle.promises if p not in there]:
                    self.oracle.unpin(gone)
                return
        raise AssertionError("refused, though it would not have been the weakest")

    def unpin(self, pinning: Pinning) -> None:
        """Keep it no longer, if it still was."""
        self.cache.unpin(pinning.pin)
        self.oracle.unpin(pinning.promise)

    def pass_time(self, seconds: float) -> None:
        """Nothing happens for a while."""
        self.oracle.now += seconds

    def look(self, sequence: Sequence) -> None:
        """Ask what it would reuse, with the chain it keeps."""
        self._settle()
        match = self.cache.match(sequence.chain, sequence.tokens)
        assert match == Match(*self.oracle.match(sequence.space, sequence.tokens))

    def check(self) -> None:
        """Everything that can be seen from outside, and the cache's own audit."""
        if not self._lazy:
            self._run_copies()
        self._settle()
        self.cache.audit()
        self._check_counts()
        self._check_pins()
        self._check_blocks()
        self._check_kv()
        self._check_matches()

    def _settle(self) -> None:
        """Being asked is what makes the cache look at the clock."""
        self.cache.pins("acme")
        self.oracle.settle()

    def _check_counts(self) -> None:
        cache, oracle = self.cache, self.oracle
        assert cache.cached == len(oracle.cached())
        assert cache.available == oracle.available()
        assert cache.leased == len(oracle.held())
        assert cache.evicted == oracle.evicted
        assert cache.generation == oracle.generation

    def _check_pins(self) -> None:
        live = {pin for tenant in TENANTS for pin in self.cache.pins(tenant)}
        for pinning in self.pins:
            assert (pinning.pin in live) == (pinning.promise in self.oracle.promises)
            if pinning.pin in live:
                assert pinning.pin.until == pinning.promise.until
        self.pins = [pinning for pinning in self.pins if pinning.pin in live]
        assert len(self.pins) == len(live)

    def _check_blocks(self) -> None:
        """Cell and block stand for each other, and a cell never moves."""
        live = set(self.oracle.published.values()) | self.oracle.held()
        self._place = {cell: block for cell, block in self._place.items() if cell in live}
        for sequence in self.sequences:
            if sequence.holding is None:
                continue
            lease, held = sequence.holding.lease, sequence.holding.held
            assert len(lease.blocks) == len(held.cells)
            for cell, block in zip(held.cells, lease.blocks, strict=True):
                assert self._place.setdefault(cell, block) == block
        assert len(set(self._place.values())) == len(self._place), "one block for two contents"

    def _run_copies(self) -> None:
        size = self.oracle.size
        for source, target, tokens in self.cache.take_copies():
            assert 0 < tokens < size or source != target
            space, generation, known = self._written[source]
            begin = (len(known) - 1) // size * size
            assert begin + tokens <= len(known), "a copy of what was never computed"
            self._written[target] = space, generation, known[: begin + tokens]
        self._copies_due = False

    def _check_kv(self) -> None:
        if self._copies_due:
            return
        size = self.oracle.size
        for sequence in self.sequences:
            if sequence.holding is None:
                continue
            for at in range(-(-sequence.computed // size)):
                block = sequence.holding.lease.blocks[at]
                assert self._written[block] == self._expected(sequence, at)

    def _check_matches(self) -> None:
        asked = [(s.space, s.tokens) for s in self.sequences[-12:]]
        for space, known in self.oracle.published:
            if space.tenant != EVERYBODY:
                asked.append((space, [*known, 0]))
                asked.append((space, [*known[:-1], 7, 7]))
        for shared in self.declared:
            asked += [(Space(tenant, self._weights, shared), [*shared, 7]) for tenant in TENANTS]
        for space, tokens in asked:
            match = self.cache.match(self._chain(space), tokens)
            assert match == Match(*self.oracle.match(space, tokens)), (space, tokens)
            assert match.cached_tokens < max(1, len(tokens))
            assert match.cached_tokens % self.oracle.unit == 0

    def _expected(self, sequence: Sequence, at: int) -> Written:
        assert sequence.holding is not None
        end = min(sequence.computed, (at + 1) * self.oracle.size)
        generation = sequence.holding.held.generation
        return sequence.space.of(end), generation, tuple(sequence.tokens[:end])

    def _space(self, tenant: str, tokens: list[int]) -> Space:
        """As the engine tells it: by the longest prefix that the prompt begins with."""
        shared = [each for each in self.declared if tuple(tokens[: len(each)]) == each]
        return Space(tenant, self._weights, max(shared, key=len, default=()))

    def _chain(self, space: Space) -> Chain:
        shared = None
        if space.shared:
            shared = self.cache.chain(self._namespace(space.of(1)))
            shared.extend(space.shared)
        return self.cache.chain(self._namespace(space), shared)

    def _namespace(self, space: Space) -> Namespace:
        weights = bytes([space.weights % 256]) * 32
        return namespace(tenant=space.tenant, weights=weights, block_size=self.oracle.size)


def prefix_to(node: Node) -> tuple[int, ...]:
    """All tokens from the root to the end of `node`."""
    tokens: tuple[int, ...] = ()
    at: Node | None = node
    while at is not None:
        tokens = (*array("I", bytes(at.label)), *tokens)
        at = at.parent
    return tokens
