"""The prefix cache once more, as naively as it can be said: what the real one is compared with.

What can be found is a dict from (namespace, tokens) to a cell: one physical block, full or (a tail)
partly filled. The tokens are all those up to the last one in it. Everything else (who
holds what, what is free, which cell goes next) is worked out from scratch each time it is asked
for. No hashes, no counters, no order kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

EVERYBODY = "everybody"


class Space(NamedTuple):
    """Where a prompt is looked for."""

    tenant: str
    weights: int = 0
    shared: tuple[int, ...] = ()
    """What the prompt begins with that everybody shares: its own is what lies behind."""

    def of(self, length: int) -> "Space":
        """Where the last of so many tokens lies."""
        return Space(EVERYBODY, self.weights) if 0 < length <= len(self.shared) else self


Prefix = tuple[Space, tuple[int, ...]]
"""Where a cell lies, and all tokens up to the end of what it holds."""


@dataclass(eq=False)
class Cell:
    """One physical block."""

    prefix: Prefix | None = None
    """What it is found under; None while it is private."""
    stamp: int = 0
    """When it was last let go, in events."""
    since: float = 0.0
    """The same in seconds."""


@dataclass(eq=False)
class Held:
    """What one lease holds."""

    space: Space
    tokens: tuple[int, ...]
    generation: int
    cells: list[Cell]
    cached_tokens: int
    shared: int
    announced: int
    """Tokens that others may wait for."""
    tail: Cell | None = None
    copied: tuple[Cell, Cell, int] | None = None
    """Source, target and tokens of the copy its prefix relies on."""


@dataclass(eq=False)
class Promise:
    """A pin: what it keeps, and the prefix of the last cell under it."""

    by: Space
    """Whose use renews it."""
    kept: tuple[int, ...]
    end: Prefix
    priority: int
    ttl: float
    until: float


class Oracle:
    """`blocks` cells of `size` tokens; hits are whole multiples of `unit` tokens."""

    def __init__(
        self, blocks: int, size: int, unit: int, enabled: bool, ttl: float | None = None
    ) -> None:
        self.total, self.size, self.unit, self.enabled = blocks, size, unit, enabled
        self.budget, self.ttl, self.now = blocks // 2, ttl, 0.0
        self.promises: list[Promise] = []
        """In the order they were made."""
        self.published: dict[Prefix, Cell] = {}
        self.live: list[Held] = []
        self.generation = 0
        self.evicted = 0
        self.clock = 0

    # What can be asked

    def cached(self) -> list[Cell]:
        """Published and held by nobody."""
        held = self.held()
        return [cell for cell in self.published.values() if cell not in held]

    def held(self) -> set[Cell]:
        """Held by at least one lease."""
        return {cell for lease in self.live for cell in lease.cells}

    def available(self) -> int:
        """Free or cached."""
        return self.total - len(self.held())

    def found(self, space: Space, tokens: Sequence[int]) -> int:
        """Leading full blocks of `tokens` that are published."""
        count = 0
        for prefix in self.prefixes(space, tokens):
            if prefix not in self.published:
                break
            count += 1
        return count

    def common(self, space: Space, tokens: Sequence[int], other: Prefix) -> int:
        """Tokens that what is looked for in `space` shares with `other`, as far as it sees that."""
        where, known = other
        if where == space:
            return common_tokens(known, tokens)
        if where == space.of(1):
            return min(common_tokens(known, tokens), len(space.shared))
        return 0

    def longest(self, space: Space, tokens: Sequence[int]) -> tuple[int, Cell | None]:
        """Tokens shared with anything published, and a cell with the last of them."""
        best, where = 0, None
        for (other, known), cell in self.published.items():
            common = self.common(space, tokens, (other, known))
            if common > best and common > len(known) - self.cell_tokens(known):
                best, where = common, cell
        return best, where

    def cell_tokens(self, known: tuple[int, ...]) -> int:
        """How many tokens the cell found under `known` holds."""
        return (len(known) - 1) % self.size + 1

    def prefixes(self, space: Space, tokens: Sequence[int]) -> list[Prefix]:
        """One for every full block of `tokens`."""
        ends = range(self.size, len(tokens) + 1, self.size)
        return [(space.of(end), tuple(tokens[:end])) for end in ends]

    def reusable(self, matched: int, prompt: int) -> int:
        """The largest multiple of the unit that is at most `matched` and less than the prompt."""
        fits = [0]
        while fits[-1] + self.unit <= matched and fits[-1] + self.unit < prompt:
            fits.append(fits[-1] + self.unit)
        return fits[-1]

    def match(
        self, space: Space, tokens: Sequence[int], limit: int | None = None
    ) -> tuple[int, bool]:
        """Tokens reusable now, and whether the next block that would help is being computed."""
        most = len(tokens) if limit is None else min(limit, len(tokens))
        matched = self.longest(space, tokens[:most])[0]
        if self.unit > 1:
            matched = self.found(space, tokens[:most]) * self.size
        cached = self.reusable(matched, len(tokens))
        depth = self.found(space, tokens[:most])
        end = (depth + 1) * self.size
        while end % self.unit:
            end += 1
        helps = self.reusable(min(end, most), len(tokens)) > cached
        mine = tuple(tokens[: min(most, (depth + 1) * self.size)])
        return cached, helps and any(
            self.ahead(lease) == (space.of((depth + 1) * self.size), depth, mine)
            for lease in self.live
            if lease.generation == self.generation
        )

    def ahead(self, lease: Held) -> tuple[Space, int, tuple[int, ...]] | None:
        """What a lease fills next and others may wait for."""
        if not self.enabled or lease.shared * self.size >= lease.announced:
            return None
        end = min(lease.announced, (lease.shared + 1) * self.size)
        where = lease.space.of((lease.shared + 1) * self.size)
        return where, lease.shared, lease.tokens[:end]

    # What can be done

    def acquire(
        self, space: Space, tokens: Sequence[int], spare: int, limit: int | None = None
    ) -> Held | None:
        """Hits, new cells for the rest, and an announcement; None if there is no room."""
        self.settle()
        cached, _ = self.match(space, tokens, limit)
        full, part = divmod(cached, self.size)
        prefixes = self.prefixes(space, tokens)
        hits = [self.published[prefix] for prefix in prefixes[:full]]
        source = self.longest(space, tokens[:cached])[1] if part else None
        most = len(tokens) if limit is None else min(limit, len(tokens))
        announced = most // self.unit * self.unit
        lease = Held(space, tuple(tokens), self.generation, hits, cached, full, announced)
        self.live.append(lease)
        need = -(-len(tokens) // self.size) - full
        if need + spare > self.available():
            self.release(lease)
            return None
        matched = self.longest(space, tokens[:most])[0]
        for promise in self.promises:
            if cached and (space, tuple(tokens[:matched][: len(promise.kept)])) == (
                promise.by,
                promise.kept,
            ):
                promise.until = self.now + promise.ttl
        lease.cells = hits + self._allocate(need)
        if source is not None:
            lease.copied = (source, lease.cells[full], part)
        return lease

    def grow(self, lease: Held, tokens: int) -> bool:
        """Room for `tokens` tokens, if there is any."""
        missing = max(0, -(-tokens // self.size) - len(lease.cells))
        if missing > self.available():
            return False
        lease.cells += self._allocate(missing)
        return True

    def publish(self, lease: Held, tokens: Sequence[int], computed: int, tail: bool) -> None:
        """Each full block becomes findable, or gives way to the one that is already."""
        if not self.enabled or lease.generation != self.generation:
            return
        full = computed // self.size
        if full > lease.shared:
            self._unpublish_tail(lease)
        prefixes = self.prefixes(lease.space, tokens)
        for at in range(lease.shared, full):
            prefix, own = prefixes[at], lease.cells[at]
            lease.cells[at] = self.published.setdefault(prefix, own)
            lease.cells[at].prefix = prefix
            lease.shared = at + 1
        part = tuple(tokens[full * self.size : computed])
        if tail and part and self.unit == 1 and full == lease.shared:
            prefix = (lease.space.of(computed), tuple(tokens[:computed]))
            if self.longest(*prefix)[0] < computed:
                self._unpublish_tail(lease)
                lease.tail = self.published[prefix] = lease.cells[full]
                lease.tail.prefix = prefix
        self._drop_useless_tails()

    def release(self, lease: Held) -> None:
        """Let go; what nobody holds now was last used now."""
        self.live.remove(lease)
        self.clock += 1
        held = self.held()
        for cell in lease.cells:
            if cell not in held:
                cell.stamp, cell.since = self.clock, self.now
        self._drop_useless_tails()

    def reset(self) -> None:
        """Nothing is published or announced any more."""
        self.generation += 1
        for cell in self.published.values():
            cell.prefix = None
        self.published.clear()
        self.promises.clear()

    def trim(self, cached: int) -> None:
        """Evict until at most so many cells are cached."""
        while len(self.cached()) > cached:
            self._evict()

    def settle(self) -> None:
        """Promises run out; then what nobody used or keeps expires, leaf first."""
        self.promises = [promise for promise in self.promises if promise.until > self.now]
        self._drop_useless_tails()
        while self.ttl is not None and (old := self._expired(self.now - self.ttl)):
            for cell in old:
                self._unpublish(cell)

    def may_keep(self, space: Space, tokens: Sequence[int]) -> set[tuple[int, Prefix] | None]:
        """What a pin on `tokens` may keep, and up to the end of which cell; None is nothing.

        Several where cells share equally much with `tokens`: any of them will do.
        """
        self.settle()
        depth, longest = self.found(space, tokens) * self.size, self.longest(space, tokens)[0]
        whole = (depth, (space.of(depth), tuple(tokens[:depth]))) if depth else None
        if longest == depth:
            return {whole}
        held = self.held()
        return {
            whole if cell in held and len(known) % self.size else (longest, (other, known))
            for (other, known), cell in self.published.items()
            if len(known) - self.cell_tokens(known) == depth
            and self.common(space, tokens, (other, known)) == longest
        }

    def pin(
        self, by: Space, kept: Sequence[int], end: Prefix, *, priority: int, ttl: float
    ) -> Promise:
        """Keep every cell up to the one at `end`; it may be the one that gives way at once."""
        for known in self.promises:
            if (known.by, known.kept) == (by, tuple(kept)):
                known.priority, known.ttl, known.until = priority, ttl, self.now + ttl
                return known
        promise = Promise(by, tuple(kept), end, priority, ttl, self.now + ttl)
        left = self.with_promise(promise)
        gone = [one for one in self.promises if one not in left]
        self.promises = left
        for one in gone:
            self.unpin(one)
        return promise

    def with_promise(self, promise: Promise) -> list[Promise]:
        """Whom a new promise leaves: the weakest go until the budget is kept."""
        before, self.promises = self.promises, [*self.promises, promise]
        try:
            payer = promise.end[0].tenant
            while len(self._kept_cells(payer)) > self.budget:
                weakest = min(
                    (one for one in self.promises if one.end[0].tenant == payer),
                    key=lambda one: (one.priority, one.until),  # then the oldest: `min` is stable
                )
                self.promises.remove(weakest)
            return self.promises
        finally:
            self.promises = before

    def unpin(self, promise: Promise) -> None:
        """Keep it no longer."""
        if promise in self.promises:
            self.promises.remove(promise)
        self._drop_useless_tails()

    def kept(self, cell: Cell) -> bool:
        """Whether any promise keeps it: a tail for itself, a full block for what follows too."""
        assert cell.prefix is not None
        space, tokens = cell.prefix
        return any(
            promise.end == cell.prefix
            or (
                promise.end[0] == space
                and not len(tokens) % self.size
                and promise.end[1][: len(tokens)] == tokens
            )
            for promise in self.promises
        )

    def _kept_cells(self, payer: str) -> list[Cell]:
        return [
            cell
            for (space, _), cell in self.published.items()
            if space.tenant == payer and self.kept(cell)
        ]

    def _expired(self, since: float) -> list[Cell]:
        return [
            cell
            for cell in self.cached()
            if cell.since <= since and not self._has_child(cell) and not self.kept(cell)
        ]

    def _unpublish_tail(self, lease: Held) -> None:
        if lease.tail is not None and lease.tail.prefix is not None:
            del self.published[lease.tail.prefix]
            lease.tail.prefix = None
        lease.tail = None

    def _drop_useless_tails(self) -> None:
        for cell in self.cached():
            assert cell.prefix is not None
            if len(cell.prefix[1]) % self.size and self._goes_on(cell) and not self.kept(cell):
                self._unpublish(cell)

    def _allocate(self, count: int) -> list[Cell]:
        while self.total - len(self.held() | set(self.published.values())) < count:
            self._evict()
        return [Cell() for _ in range(count)]

    def _evict(self) -> None:
        leaves = [cell for cell in self.cached() if not self._has_child(cell)]
        if all(self.kept(cell) for cell in leaves):
            self._weaken(leaves)
            return
        leaves = [cell for cell in leaves if not self.kept(cell)]
        order = {(cell.stamp, -len(cell.prefix[1])): cell for cell in leaves if cell.prefix}
        assert len(order) == len(leaves), "the rule leaves no two cells equal"
        self._unpublish(order[min(order)])
        self.evicted += 1

    def _weaken(self, leaves: list[Cell]) -> None:
        """The promises on the leaf whose strongest is the weakest are kept no longer."""
        ending = {
            cell: [promise for promise in self.promises if promise.end == cell.prefix]
            for cell in leaves
        }
        weakest = min(
            leaves,
            key=lambda cell: (
                max((promise.priority, promise.until) for promise in ending[cell]),
                cell.stamp,
            ),
        )
        for promise in ending[weakest]:
            self.unpin(promise)

    def _has_child(self, cell: Cell) -> bool:
        assert cell.prefix is not None
        return not len(cell.prefix[1]) % self.size and self._goes_on(cell)

    def _goes_on(self, cell: Cell) -> bool:
        """Whether anything published begins with all of its prefix."""
        assert cell.prefix is not None
        space, tokens = cell.prefix
        return any(
            other.of(len(tokens)) == space
            and len(known) > len(tokens)
            and known[: len(tokens)] == tokens
            for other, known in self.published
        )

    def _unpublish(self, cell: Cell) -> None:
        assert cell.prefix is not None
        del self.published[cell.prefix]
        cell.prefix = None


def common_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
