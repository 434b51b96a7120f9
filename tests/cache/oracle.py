"""The prefix cache once more, as naively as it can be said: what the real one is compared with.

Published prefixes are a dict from (namespace, tokens) to a cell, a cell being one physical block.
Everything else (who holds what, what is free, which cell goes next) is worked out from scratch each
time it is asked for. No hashes, no counters, no order kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

Prefix = tuple[str, tuple[int, ...]]
"""A namespace's name and all tokens up to the end of a block."""


@dataclass(eq=False)
class Cell:
    """One physical block."""

    prefix: Prefix | None = None
    """What it is found under; None while it is private."""
    stamp: int = 0
    """When it was last let go."""


@dataclass(eq=False)
class Held:
    """What one lease holds."""

    space: str
    generation: int
    cells: list[Cell]
    cached_tokens: int
    shared: int
    announced: set[Prefix] = field(default_factory=set)


class Oracle:
    """`blocks` cells of `size` tokens; hits are whole multiples of `unit` tokens."""

    def __init__(self, blocks: int, size: int, unit: int, enabled: bool) -> None:
        self.total, self.size, self.unit, self.enabled = blocks, size, unit, enabled
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

    def found(self, space: str, tokens: Sequence[int]) -> int:
        """Leading blocks of `tokens` that are published."""
        count = 0
        for prefix in self.prefixes(space, tokens):
            if prefix not in self.published:
                break
            count += 1
        return count

    def prefixes(self, space: str, tokens: Sequence[int]) -> list[Prefix]:
        """One for every full block of `tokens`."""
        ends = range(self.size, len(tokens) + 1, self.size)
        return [(space, tuple(tokens[:end])) for end in ends]

    def reusable(self, matched: int, prompt: int) -> int:
        """The largest multiple of the unit that is at most `matched` and less than the prompt."""
        fits = [0]
        while fits[-1] + self.unit <= matched and fits[-1] + self.unit < prompt:
            fits.append(fits[-1] + self.unit)
        return fits[-1]

    def match(self, space: str, tokens: Sequence[int]) -> tuple[int, bool]:
        """Tokens reusable now, and whether the next block that would help is being computed."""
        found, prefixes = self.found(space, tokens), self.prefixes(space, tokens)
        best = self.reusable(len(prefixes) * self.size, len(tokens))
        coming = found * self.size < best and any(
            prefixes[found] in lease.announced for lease in self.live
        )
        return self.reusable(found * self.size, len(tokens)), coming

    # What can be done

    def acquire(self, space: str, tokens: Sequence[int], spare: int) -> Held | None:
        """Hits, new cells for the rest, and announcements; None if there is no room."""
        cached, _ = self.match(space, tokens)
        prefixes = self.prefixes(space, tokens)
        hits = [self.published[prefix] for prefix in prefixes[: cached // self.size]]
        lease = Held(space, self.generation, hits, cached, len(hits))
        self.live.append(lease)
        need = -(-len(tokens) // self.size) - len(hits)
        if need + spare > self.available():
            self.release(lease)
            return None
        lease.cells = hits + self._allocate(need)
        if self.enabled:
            others = {prefix for other in self.live for prefix in other.announced}
            whole_units = len(tokens) // self.unit * self.unit // self.size
            ahead = set(prefixes[len(hits) : whole_units])
            lease.announced = ahead - others - self.published.keys()
        return lease

    def grow(self, lease: Held, tokens: int) -> bool:
        """Room for `tokens` tokens, if there is any."""
        missing = max(0, -(-tokens // self.size) - len(lease.cells))
        if missing > self.available():
            return False
        lease.cells += self._allocate(missing)
        return True

    def publish(self, lease: Held, tokens: Sequence[int], computed: int) -> None:
        """Each full block becomes findable, or gives way to the one that is already."""
        if not self.enabled or lease.generation != self.generation:
            return
        prefixes = self.prefixes(lease.space, tokens)
        for at in range(lease.shared, computed // self.size):
            prefix, own = prefixes[at], lease.cells[at]
            lease.cells[at] = self.published.setdefault(prefix, own)
            lease.cells[at].prefix = prefix
            lease.announced.discard(prefix)
            lease.shared = at + 1

    def release(self, lease: Held) -> None:
        """Let go; what nobody holds now was last used now."""
        self.live.remove(lease)
        self.clock += 1
        held = self.held()
        for cell in lease.cells:
            if cell not in held:
                cell.stamp = self.clock

    def reset(self) -> None:
        """Nothing is published or announced any more."""
        self.generation += 1
        for cell in self.published.values():
            cell.prefix = None
        self.published.clear()
        for lease in self.live:
            lease.announced.clear()

    def _allocate(self, count: int) -> list[Cell]:
        while self.total - len(self.held() | set(self.published.values())) < count:
            self._evict()
        return [Cell() for _ in range(count)]

    def _evict(self) -> None:
        parents = {(space, tokens[: -self.size]) for space, tokens in self.published}
        leaves = [cell for cell in self.cached() if cell.prefix not in parents]
        order = {(cell.stamp, -len(cell.prefix[1])): cell for cell in leaves if cell.prefix}
        assert len(order) == len(leaves), "the rule leaves no two cells equal"
        victim = order[min(order)]
        assert victim.prefix is not None
        del self.published[victim.prefix]
        victim.prefix = None
        self.evicted += 1
