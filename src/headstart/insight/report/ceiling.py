"""What a cache that forgets nothing would have read of a request, from the bodies."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counts
from headstart.insight.asked.piece import Piece
from headstart.insight.compare.common import common_prefix
from headstart.insight.rehearsal import Rehearsed
from headstart.insight.seen import Seen


@dataclass(frozen=True, slots=True)
class Reusable:
    """Estimated tokens of one request."""

    ends: Sequence[int]
    """Through each piece."""
    same: int
    """Of its beginning, that an earlier request of the tenant and model had too."""

    @property
    def prompt(self) -> int:
        """Of all pieces."""
        return self.ends[-1] if self.ends else 0

    def through(self, pieces: int) -> int:
        """Of so many pieces at its beginning."""
        return self.ends[pieces - 1] if pieces else 0

    def of(self, prompt: int, tokens: int | None = None) -> int:
        """`tokens` (`same` unless told) in proportion to a prompt that the vendor counted."""
        part = self.same if tokens is None else tokens
        return min(part * prompt // self.prompt, max(0, prompt - 1)) if self.prompt else 0


class Ceiling:
    """Hears requests one after the other."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._seen = Seen()
        self._numbers: dict[bytes, int] = {}

    def hear(self, asked: Asked, earlier: Asked | None) -> Reusable:
        """Whole pieces by the cache itself; of the next one, what `earlier` begins it with."""
        ends = list(accumulate(map(self._counts.tokens, asked.pieces)))
        numbers = self._numbers
        ids = [numbers.setdefault(piece.digest, len(numbers) + 1) for piece in asked.pieces]
        # Behind the last piece comes what opens the answer, so all pieces can be read.
        whole = self._seen.ask([*ids, 0], tenant=asked.tenant, model=asked.model)
        return _with_next(asked, earlier, ends, ends[whole - 1] if whole else 0)


def rehearsed_reuse(asked: Asked, earlier: Asked | None, heard: Rehearsed) -> Reusable:
    """The same where a rehearsal has looked the pieces up already."""
    return _with_next(asked, earlier, heard.prompt.ends, heard.reused)


def _with_next(asked: Asked, earlier: Asked | None, ends: Sequence[int], same: int) -> Reusable:
    """`ends`: tokens through each piece."""
    whole = bisect_right(ends, same)
    begun = ends[whole - 1] if whole else 0
    if whole < len(ends) and earlier is not None and earlier.model == asked.model:
        size = ends[whole] - begun
        same = begun + _within(earlier.pieces[whole : whole + 1], asked.pieces[whole], size)
    return Reusable(tuple(ends), same)


def _within(others: Sequence[Piece], piece: Piece, size: int) -> int:
    """Tokens that a piece begins with as the one at its place did."""
    for other in others:
        if other.kind == piece.kind and not (other.media or piece.media) and piece.text:
            return size * common_prefix(other.text, piece.text) // len(piece.text)
    return 0
