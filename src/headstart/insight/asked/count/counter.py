"""The seam that every way of counting fills, and its memory of pieces."""

from array import array
from typing import Protocol

from headstart.insight.asked.piece import Piece

MOST_PIECES = 1 << 15
"""Whose counts are remembered; beyond so many they are counted again."""
MOST_IDS, BESIDES = 1 << 20, 64
"""Ids that are remembered, of four bytes each, and as how many the entry of a piece counts."""


class Counter(Protocol):
    """Counts the tokens of texts. Equal texts give equal ids; it never opens a connection."""

    @property
    def measured(self) -> bool:
        """Whether by a vocabulary; else it is an estimate."""
        ...

    @property
    def method(self) -> str:
        """What it counts by, for people."""
        ...

    def tokens(self, text: str) -> int:
        """How many; the length of `ids`."""
        ...

    def ids(self, text: str) -> "array[int]":
        """What stands for the tokens, each below 2^32."""
        ...


def label(counter: Counter) -> str:
    """`measured (…)` or `estimated (…)`."""
    return f"{'measured' if counter.measured else 'estimated'} ({counter.method})"


class Counts:
    """Pieces by a counter. Sessions that grow send the same pieces again and again."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[bytes, int] = {}
        self._ids: dict[bytes, array[int]] = {}
        self._room = MOST_IDS

    def tokens(self, piece: Piece) -> int:
        """Of its name, if it has one, and of what it says."""
        known = self._known.get(piece.digest)
        if known is None:
            if len(self._known) >= MOST_PIECES:
                self._known.clear()
            known = sum(map(self.counter.tokens, shown(piece)))
            self._known[piece.digest] = known
        return known

    def ids(self, piece: Piece) -> "array[int]":
        """The same as ids; not to be changed."""
        known = self._ids.get(piece.digest)
        if known is None:
            known = array("I")
            for text in shown(piece):
                known.extend(self.counter.ids(text))
            size = len(known) + BESIDES
            if size > self._room:
                self._ids.clear()
                self._room = MOST_IDS
            if size <= self._room:
                self._ids[piece.digest] = known
                self._room -= size
        return known


def shown(piece: Piece) -> tuple[str, ...]:
    """The texts of a piece that a model reads: of a call, the tool's name comes first."""
    return (piece.name, piece.text) if piece.kind == "tool_use" else (piece.text,)
