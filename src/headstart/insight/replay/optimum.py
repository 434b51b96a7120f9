"""The best any policy can do: Belady's rule on whole prefixes, with bypass.

Between two uses of a block lies one interval; keeping the block over it is one hit. After each
request at most `capacity` blocks stay, so the optimum is the heaviest set of intervals of which at
most `capacity` overlap: dropping the one that ends last is exact. A parent is used again no later
than its child, so with ties to the deeper block what is kept is always whole prefixes: the bound is
attained, not only an upper one. Exact in blocks; a part-full last block counts by its tokens.

Blocks of one request with the same next use share their fate, so the work grows with such
groups (a few per request), not with blocks.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from headstart.insight.replay.request import Request


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive blocks of request `begin` whose next use is request `end`."""

    begin: int
    end: int
    blocks: int
    tokens: int


class Optimum:
    """Reuse of one stream of requests, to be asked for any number of capacities."""

    __slots__ = ("block_tokens", "ending", "paths", "prompt_tokens", "unique_blocks")

    def __init__(self, requests: Iterable[Request]) -> None:
        last: dict[int, int] = {}
        self.ending: list[list[Group]] = []
        """By request, what it reuses of earlier ones, from the root on."""
        self.paths = array("I")
        """By request, the blocks that are findable behind it."""
        self.prompt_tokens = 0
        self.block_tokens = 1
        for index, request in enumerate(requests):
            self.ending.append(_groups(request, index, last))
            last.update(dict.fromkeys(request.blocks, index))
            last.update(dict.fromkeys(request.answer, index))
            self.paths.append(len(request.blocks) + len(request.answer))
            self.prompt_tokens += request.prompt_tokens
            self.block_tokens = request.block_tokens
        self.unique_blocks = len(last)
        """The footprint: different blocks in the stream."""

    def ceiling(self) -> float:
        """Token hit rate (0..1) of a cache without a limit."""
        hits = sum(group.tokens for ending in self.ending for group in ending)
        return hits / self.prompt_tokens if self.prompt_tokens else 0.0

    def hit_rate(self, capacity: int) -> float:
        """The highest token hit rate (0..1) with room for `capacity` blocks."""
        starting: list[list[Group]] = [[] for _ in self.ending]
        for ending in self.ending:
            for group in ending:
                starting[group.begin].append(group)
        # A heap of what is kept, latest end first; on a tie the older begin, which lies deeper.
        latest: list[tuple[int, int, int]] = []
        kept: dict[tuple[int, int], int] = {}
        used = hits = 0
        for index, ending in enumerate(self.ending):
            for group in ending:
                blocks = kept.pop((group.begin, group.end), 0)
                used -= blocks
                hits += min(blocks * self.block_tokens, group.tokens)
            for group in starting[index]:
                key = (group.begin, group.end)
                kept[key] = group.blocks
                used += group.blocks
                heappush(latest, (-group.end, group.begin, group.end))
            while used > capacity:
                _, begin, end = latest[0]
                blocks = kept.get((begin, end), 0)
                drop = min(blocks, used - capacity)
                used -= drop
                if drop == blocks:
                    heappop(latest)
                    kept.pop((begin, end), None)
                else:
                    kept[begin, end] = blocks - drop
        return hits / self.prompt_tokens if self.prompt_tokens else 0.0


def _groups(request: Request, index: int, last: dict[int, int]) -> list[Group]:
    """Blocks of `request` by when they were used before; that grows older with depth."""
    blocks: Sequence[int] = request.blocks
    groups = []
    start = 0
    while start < len(blocks) and (before := last.get(blocks[start], -1)) >= 0:
        stop = bisect_left(blocks, -before + 1, start, key=lambda block: -last.get(block, -1))
        tokens = request.prefix_tokens(stop) - request.prefix_tokens(start)
        groups.append(Group(before, index, stop - start, tokens))
        start = stop
    return groups
