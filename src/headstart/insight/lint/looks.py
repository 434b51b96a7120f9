"""What one request alone lets suspect: values of now in front of what stays, and odd characters."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.compare import MUCH
from headstart.insight.compare.volatile import suspects

INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_JOINERS = re.compile("[\u200c\u200d\u200e\u200f]")
"""Real letters and emoji are made with these: alone they say nothing."""


@dataclass(frozen=True, slots=True)
class Look:
    """A stretch of a piece that may be, or become, another one in the next request."""

    cause: Cause
    piece: Piece
    begin: int
    value: str


def looks(asked: Asked) -> Iterator[Look]:
    """All of a request."""
    behind = sum(len(piece.text) for piece in asked.pieces)
    for piece in asked.pieces:
        behind -= len(piece.text)
        if piece.kind not in EARLY:
            break
        yield from _characters(piece)
        for spot in suspects(piece.text):
            if len(piece.text) - spot.end + behind >= MUCH:
                yield Look(spot.cause, piece, spot.begin, spot.of(piece.text))


def _characters(piece: Piece) -> Iterator[Look]:
    text = piece.text
    carriage = text.find("\r\n")
    if carriage >= 0 and re.search(r"(?<!\r)\n", text):
        yield Look(Cause.LINE_ENDS, piece, carriage, "\r\n")
    if text.isascii():
        return
    hidden = next(
        (each for each in INVISIBLE.finditer(text) if not _JOINERS.match(each.group())), None
    )
    if hidden is not None:
        yield Look(Cause.INVISIBLE, piece, hidden.start(), f"U+{ord(hidden.group()):04X}")
    if not unicodedata.is_normalized("NFC", text):
        at = next(i for i, letter in enumerate(text) if unicodedata.combining(letter))
        yield Look(Cause.UNICODE_FORM, piece, at, text[max(0, at - 1) : at + 1])
