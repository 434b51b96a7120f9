"""Texts that are one template with other values in it: what they share, clause by clause."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from headstart.insight.compare.common import common_prefix, common_suffix

_CLAUSE = re.compile(r".(?:[^.!?。！？\n]+|[.!?](?!\s))*(?:[.!?]\s+|[。！？]\s*|\n+|$)", re.DOTALL)
"""`.+?` up to the same ends, without a look at each character."""
SHORTEST = 24
"""Characters of a stretch that counts as shared: shorter ones are met by chance."""


def clauses(text: str) -> list[str]:
    """Lines and sentences; together they are the text."""
    return _CLAUSE.findall(text)


class Template:
    """Stretches that all texts have, in their order, with gaps before, between and behind them."""

    def __init__(self, text: str) -> None:
        self._shared: list[list[str]] = [clauses(text)]

    def hear(self, text: str) -> None:
        """Keep what this one has too."""
        if self.cut(text) is not None:
            return
        flat = [clause for stretch in self._shared for clause in stretch]
        breaks = {0}
        for stretch in self._shared:
            breaks.add(max(breaks) + len(stretch))
        kept = []
        for begin, _, size in _alike(flat, clauses(text)):
            edges = [begin, *sorted(at for at in breaks if begin < at < begin + size), begin + size]
            kept += [flat[one:other] for one, other in pairwise(edges)]
        self._shared = [stretch for stretch in kept if len("".join(stretch)) >= SHORTEST]

    @property
    def shared(self) -> list[str]:
        """The stretches."""
        return ["".join(stretch) for stretch in self._shared]

    def cut(self, text: str) -> list[str] | None:
        """The text in pieces: gap, stretch, gap, stretch, …, gap; None if it lacks a stretch."""
        found: list[str] = []
        at = 0
        for stretch in self.shared:
            begin = text.find(stretch, at)
            if begin < 0:
                return None
            found += [text[at:begin], stretch]
            at = begin + len(stretch)
        return [*found, text[at:]]


def _alike(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of clauses that both have: where in each, and how many. Both ends are cheap."""
    first = common_prefix(one, other)
    last = common_suffix(one, other, first)
    runs = [(0, 0, first)] if first else []
    inner, there = one[first : len(one) - last], other[first : len(other) - last]
    if inner and there:
        matcher = SequenceMatcher(None, inner, there, autojunk=False)
        runs += [
            (begin + first, at + first, size)
            for begin, at, size in matcher.get_matching_blocks()
            if size
        ]
    return [*runs, (len(one) - last, len(other) - last, last)] if last else runs
