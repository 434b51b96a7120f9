"""How hot chunks are: how often they were used, and how lately. Survives a restart in a small file.

A use counts half after HALF_LIFE. The sum of all uses is kept as its logarithm, in half-lives since
1970: then it never has to be aged, whoever has the larger number is hotter at any later time, and
one use at time t is t itself. Whoever uses a chunk uses its parents, so they are no colder.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from math import log2

from xxhash import xxh3_128_digest

from headstart.cache.keys import BlockKey

HALF_LIFE = 3600 * 10**9
"""Nanoseconds."""
MOST = 16_384
"""Chunks that the file names: the hottest."""

_MAGIC = b"HEADHT\r\n"
_ENTRY = struct.Struct("<32sdQI")
_HASH = 16
_MOST_USES = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Warmth:
    """What is known of one chunk."""

    heat: float
    """log2 of the number of its uses, aged; in half-lives since 1970."""
    last: int
    """Its last use, in nanoseconds since 1970."""
    uses: int

    def again(self, now: int) -> "Warmth":
        """After one use more."""
        at = now / HALF_LIFE
        high, low = max(self.heat, at), min(self.heat, at)
        heat = high + log2(1 + 2.0 ** (low - high))
        return Warmth(heat, max(self.last, now), min(self.uses + 1, _MOST_USES))


def once(at: int) -> Warmth:
    """A single use, which was no reuse."""
    return Warmth(at / HALF_LIFE, at, 0)


def hottest_first(
    chunks: Mapping[BlockKey, tuple[BlockKey | None, int, float]],
) -> list[BlockKey]:
    """The chunks whose whole prefix is there, the hottest first, parents before children.

    `chunks`: parent, depth in chunks, heat. A parent is at least as hot as its children.
    """
    heat = {key: own for key, (_, _, own) in chunks.items()}
    deepest_first = sorted(chunks, key=lambda key: -chunks[key][1])
    for key in deepest_first:
        parent = chunks[key][0]
        if parent in heat:
            heat[parent] = max(heat[parent], heat[key])
    whole: set[BlockKey | None] = set()
    for key in reversed(deepest_first):
        parent, depth, _ = chunks[key]
        if (not depth and parent is not None) or parent in whole:
            whole.add(key)
    order = (key for key in chunks if key in whole)
    return sorted(order, key=lambda key: (-heat[key], chunks[key][1], key))


class Heat:
    """The hottest `most` chunks, at least. Not safe for threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[BlockKey, Warmth] = {}
        self.noted = True
        """Nothing has changed since `dump` or `load`."""

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: BlockKey) -> Warmth | None:
        """What is known of the chunk."""
        return self._known.get(key)

    def used(self, keys: Iterable[BlockKey], now: int) -> None:
        """A request used these chunks."""
        for key in keys:
            self.noted = False
            known = self._known.get(key)
            self._known[key] = once(now) if known is None else known.again(now)
        if len(self._known) > 2 * self._most:
            self._known = dict(self._hottest())

    def dump(self) -> bytes:
        """As a file: magic, an entry per chunk, xxh3-128 of all that."""
        self.noted = True
        body = _MAGIC + b"".join(
            _ENTRY.pack(key, warmth.heat, warmth.last, warmth.uses)
            for key, warmth in self._hottest()
        )
        return body + xxh3_128_digest(body)

    def load(self, data: bytes) -> None:
        """Take over what `dump` gave. Raises ValueError, with nothing changed, for all else."""
        body, digest = data[:-_HASH], data[-_HASH:]
        size = len(body) - len(_MAGIC)
        if not body.startswith(_MAGIC) or size % _ENTRY.size or xxh3_128_digest(body) != digest:
            raise ValueError("not a file of heat, or a damaged one")
        for key, heat, last, uses in _ENTRY.iter_unpack(body[len(_MAGIC) :]):
            self._known[BlockKey(key)] = Warmth(heat, last, uses)

    def _hottest(self) -> list[tuple[BlockKey, Warmth]]:
        return nlargest(self._most, self._known.items(), key=lambda item: (item[1].heat, item[0]))
