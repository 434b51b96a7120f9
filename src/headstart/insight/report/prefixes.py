"""What requests begin with: tools and instructions, by which they are grouped."""

from collections import OrderedDict

from headstart.contracts.prompt import digest
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY
from headstart.insight.compare.broken import Break
from headstart.insight.shown import Show

SHORT = 32
"""Characters of its first words."""
UNKNOWN = "(no body)"
NONE = "(no instructions)"
MOST_KEPT = 512
"""Requests whose family is remembered."""


def prefix_of(asked: Asked) -> tuple[str, int]:
    """A name for equal beginnings, and how many pieces they are."""
    count = next(
        (n for n, piece in enumerate(asked.pieces) if piece.kind not in EARLY), len(asked.pieces)
    )
    return digest(*(piece.digest for piece in asked.pieces[:count])).hex()[:8], count


class Families:
    """Names of beginnings. One that breaks in its tools or instructions stays in its family."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._kept: OrderedDict[int, tuple[Asked, str]] = OrderedDict()
        self._names: dict[str, str] = {}

    def hear(
        self, asked: Asked, key: str, count: int, earlier: Asked | None, found: Break | None
    ) -> str:
        """The name of what a request begins with, given the one that it has most in common with."""
        before = None if earlier is None else self._kept.get(id(earlier))
        broken = found is not None and found.piece is not None and found.piece.kind in EARLY
        name = before[1] if before is not None and broken else self._name(asked, key, count)
        self._kept[id(asked)] = asked, name
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return name

    def _name(self, asked: Asked, key: str, count: int) -> str:
        """Worked out once for each beginning."""
        name = self._names.get(key)
        if name is None:
            if len(self._names) >= MOST_KEPT:
                self._names.clear()
            name = self._names[key] = _named(asked, key, count, self._show)
        return name


def _named(asked: Asked, key: str, count: int, show: Show) -> str:
    """For people: its first words and its name."""
    if not count:
        return NONE
    early = asked.pieces[:count]
    first = next((piece for piece in early if piece.kind != "tool"), early[0])
    words = first.name if first.kind == "tool" else first.text[:SHORT]
    return f"{key} {show(words)}"
