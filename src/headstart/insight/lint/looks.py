"""What one request alone lets suspect: values of now in front of what stays, and odd characters."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.compare import MUCH
from headstart.insight.compare.volatile import Suspects

INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_JOINERS = re.compile("[\u200c\u200d\u200e\u200f]")
"""Real letters and emoji are made with these: alone they say nothing."""


Key = tuple[Cause, str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """A stretch of a piece that may be, or become, another one in the next request."""

    cause: Cause
    piece: Piece
    begin: int
    value: str

    @property
    def key(self) -> Key:
        """The same for the same value in the same place."""
        return self.cause, self.piece.pointer, self.value


class Looks:
    """Looks at requests. What was seen of a piece is remembered: most come again and again."""

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._suspects = Suspects()
        self._known: dict[bytes, tuple[tuple[Cause, int, int], ...]] = {}

    def __call__(self, asked: Asked) -> Iterator[Look]:
        """All of a request."""
        behind = sum(len(piece.text) for piece in asked.pieces)
        for piece in asked.pieces:
            behind -= len(piece.text)
            if piece.kind not in EARLY:
                break
            for cause, begin, end in self._of(piece):
                if cause in FORMS or len(piece.text) - end + behind >= MUCH:
                    yield Look(cause, piece, begin, piece.text[begin:end])

    def _of(self, piece: Piece) -> tuple[tuple[Cause, int, int], ...]:
        known = self._known.get(piece.digest)
        if known is None:
            if len(self._known) >= self._most:
                self._known.clear()
            values = ((spot.cause, spot.begin, spot.end) for spot in self._suspects(piece.text))
            known = self._known[piece.digest] = (*_characters(piece.text), *values)
        return known


FORMS = (Cause.LINE_ENDS, Cause.INVISIBLE, Cause.UNICODE_FORM)


def _characters(text: str) -> Iterator[tuple[Cause, int, int]]:
    carriage = text.find("\r\n")
    if carriage >= 0 and re.search(r"(?<!\r)\n", text):
        yield Cause.LINE_ENDS, carriage, carriage + 2
    if text.isascii():
        return
    hidden = next(
        (each for each in INVISIBLE.finditer(text) if not _JOINERS.match(each.group())), None
    )
    if hidden is not None:
        yield Cause.INVISIBLE, hidden.start(), hidden.end()
    if not unicodedata.is_normalized("NFC", text):
        at = next((i for i, letter in enumerate(text) if unicodedata.combining(letter)), 0)
        yield Cause.UNICODE_FORM, max(0, at - 1), at + 1
