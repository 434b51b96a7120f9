"""LRU at every capacity from one pass: a bigger cache holds all that a smaller one does.

Tail-first LRU touches a path from its end to its begin, so what is resident is the top of one list:
the blocks of the latest request from its root on, then those of the one before, and so on. Where a
block stands in it is known from who used it last (Mattson et al., 1970). True of instantaneous
requests without a time to live; `tests/insight/replay/test_stack.py` holds it against the cache.
"""

from collections.abc import Sequence

from headstart.insight.replay.optimum import Optimum


def lru_hit_rates(reuse: Optimum, capacities: Sequence[int]) -> list[float]:
    """The `lru` policy's token hit rate (0..1) with room for so many blocks each."""
    hits = [0] * len(capacities)
    last_used = _Sums(len(reuse.paths))
    for index, (groups, path) in enumerate(zip(reuse.ending, reuse.paths, strict=True)):
        above = [last_used.behind(group.begin) for group in groups]
        for place, capacity in enumerate(capacities):
            for group, before in zip(groups, above, strict=True):
                kept = min(group.blocks, capacity - before)
                if kept <= 0:
                    break
                hits[place] += min(kept * reuse.block_tokens, group.tokens)
        for group in groups:
            last_used.add(group.begin, -group.blocks)
        last_used.add(index, path)
    total = reuse.prompt_tokens
    return [tokens / total if total else 0.0 for tokens in hits]


class _Sums:
    """Numbers at places, and the sum of all behind a place: O(log n) each (Fenwick, 1994)."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tree = [0] * (size + 1)
        self._total = 0

    def add(self, place: int, number: int) -> None:
        self._total += number
        at = place + 1
        while at <= self._size:
            self._tree[at] += number
            at += at & -at

    def behind(self, place: int) -> int:
        at, upto = place + 1, 0
        while at:
            upto += self._tree[at]
            at -= at & -at
        return self._total - upto
