"""A request cut into bits, each of one segment."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.volatile import Suspects
from headstart.insight.layout.clauses import clauses
from headstart.insight.layout.segment import Segment

Key = tuple[str | int, ...]
"""Names the same place in all requests of a family."""
_OF_SESSION = re.compile(r"sess|conv|thread|user|usr|会话|用户", re.IGNORECASE)


Runs = Sequence[tuple[Segment, str]]
"""Stretches of a text; joined they are the text."""


@dataclass(frozen=True, slots=True)
class Bit:
    """A stretch of a piece, or a whole one."""

    key: Key
    segment: Segment
    piece: Piece
    text: str
    seen: bool
    """Whether its segment was seen in the requests; else it is told by its looks."""

    @property
    def alone(self) -> Piece:
        """A piece that says this alone: its own where it is a whole one, whose digest is known."""
        return self.piece if self.text == self.piece.text else replace(self.piece, text=self.text)


def keys(asked: Asked) -> Iterator[tuple[Key, Piece]]:
    """Each piece with the place that it has: a tool's is its name, wherever it stands."""
    numbers: dict[Key, int] = {}
    messages: dict[int, int] = {}
    for piece in asked.pieces:
        group: Key
        if piece.kind == "tool":
            group = ("tool", piece.name)
        elif piece.kind in EARLY:
            group = ("system",)
        else:
            group = ("message", messages.setdefault(piece.message, len(messages)))
        number = numbers.get(group, 0)
        numbers[group] = number + 1
        yield (*group, number), piece


def by_looks(asked: Asked, suspects: Suspects) -> list[Bit]:
    """One request alone: what is in front of the conversation stays unless it looks otherwise,
    the conversation stays for its session, and the last message is new."""
    last = max((piece.message for piece in asked.pieces if piece.kind not in EARLY), default=-1)
    found: list[Bit] = []
    for key, piece in keys(asked):
        if piece.kind not in EARLY:
            segment = Segment.NOW if piece.message == last else Segment.SESSION
            found.append(Bit(key, segment, piece, piece.text, seen=False))
        elif piece.kind == "tool" or piece.media:
            found.append(Bit(key, Segment.ALWAYS, piece, piece.text, seen=False))
        else:
            found += looked(key, piece, piece.text, suspects)
    return found


def looked(key: Key, piece: Piece, text: str, suspects: Suspects) -> Iterator[Bit]:
    """A text in stretches of clauses that look alike."""
    return in_runs(key, piece, runs_of(text, suspects))


def in_runs(key: Key, piece: Piece, runs: Runs) -> Iterator[Bit]:
    """Stretches of a piece."""
    for number, (segment, said) in enumerate(runs):
        yield Bit((*key, "look", number), segment, piece, said, seen=False)


def runs_of(text: str, suspects: Suspects, *, only: Sequence[Segment] = tuple(Segment)) -> Runs:
    """A text in stretches of clauses that look alike. `only`: what is believed of looks."""
    runs: list[tuple[Segment, str]] = []
    at = 0
    spots = list(suspects(text))
    for clause in clauses(text):
        end = at + len(clause)
        told = [_segment(spot.cause, text[at:end]) for spot in spots if at <= spot.begin < end]
        segment = max((each for each in told if each in only), default=Segment.ALWAYS)
        if runs and runs[-1][0] is segment:
            runs[-1] = segment, runs[-1][1] + clause
        else:
            runs.append((segment, clause))
        at = end
    return runs


def _segment(cause: Cause, text: str) -> Segment:
    if cause is Cause.DATE:
        return Segment.DAILY
    if cause is Cause.IDENTIFIER and _OF_SESSION.search(text):
        return Segment.SESSION
    return Segment.NOW
