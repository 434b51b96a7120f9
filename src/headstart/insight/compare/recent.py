"""Which earlier request a request would have read from: the one with most in common."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.compare.common import common_prefix, common_suffix
from headstart.insight.compare.compare import first_difference

MOST_KEPT = 512
"""Requests that a later one is compared with."""
MOST_TRIED = 4
"""Of those that share whole pieces with it."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier request, and what a later one could read of it."""

    asked: Asked
    read: int
    """Characters that both begin with."""
    common: int
    """Characters that both have, wherever they stand."""


class Recent:
    """The last requests of a recording. Bounded: the oldest are forgotten."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[int, Asked] = OrderedDict()
        self._having: dict[bytes, list[int]] = {}
        """Numbers of those that have a piece, ascending."""
        self._sessions: dict[tuple[str, str], int] = {}
        self._next = 0

    def add(self, asked: Asked) -> None:
        """Remember a request, that later ones may be compared with it."""
        number = self._next
        self._next += 1
        self._kept[number] = asked
        for digest in {piece.digest for piece in asked.pieces}:
            self._having.setdefault(digest, []).append(number)
        if asked.session:
            self._sessions[asked.tenant, asked.session] = number
        if len(self._kept) > self._most:
            self._forget()

    def earlier(self, asked: Asked) -> Sequence[Earlier]:
        """Candidates, the one with most in common first, of as much the latest first."""
        numbers = self._candidates(asked)
        found = [(number, measure(self._kept[number], asked)) for number in numbers]
        found.sort(key=lambda each: (each[1].common, each[1].read, each[0]), reverse=True)
        return [each for _, each in found if each.common]

    def _candidates(self, asked: Asked) -> set[int]:
        shared: Counter[int] = Counter()
        for piece in asked.pieces:
            for number in self._having.get(piece.digest, ())[-MOST_TRIED:]:
                shared[number] += len(piece.text)
        best = sorted(shared, key=lambda number: (shared[number], number))[-MOST_TRIED:]
        last = self._sessions.get((asked.tenant, asked.session))
        recent = list(self._kept)[-MOST_TRIED:]
        return {*best, *recent, *(() if last is None or not asked.session else (last,))}

    def _forget(self) -> None:
        number, asked = self._kept.popitem(last=False)
        for digest in {piece.digest for piece in asked.pieces}:
            numbers = self._having[digest]
            numbers.remove(number)
            if not numbers:
                del self._having[digest]
        if self._sessions.get((asked.tenant, asked.session)) == number:
            del self._sessions[asked.tenant, asked.session]


def measure(before: Asked, after: Asked) -> Earlier:
    """What two requests have in common."""
    first = first_difference(before.pieces, after.pieces)
    read = whole = sum(len(piece.text) for piece in after.pieces[:first])
    there = {piece.digest for piece in before.pieces[first:]}
    behind = sum(len(piece.text) for piece in after.pieces[first:] if piece.digest in there)
    within = 0
    if first < min(len(before.pieces), len(after.pieces)):
        begins, ends = _within(before.pieces[first], after.pieces[first])
        read += begins
        within = begins + ends
    return Earlier(before, read, whole + within + behind)


def _within(one: Piece, other: Piece) -> tuple[int, int]:
    alike = one.kind == other.kind or (one.kind in EARLY and other.kind in EARLY)
    if not alike or one.media or other.media:
        return 0, 0
    begins = common_prefix(one.text, other.text)
    return begins, common_suffix(one.text, other.text, begins)
