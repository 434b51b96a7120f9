"""What is said of a prefix that breaks."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache import Reason
from headstart.insight.asked.piece import Piece, utf8
from headstart.insight.causes import ABOUT, Cause


@dataclass(frozen=True, slots=True)
class Break:
    """Where `after` leaves `before` although more of it could have been read."""

    cause: Cause
    index: int
    """Of the first piece of `after` that isn't read whole; as many as there are if all would be."""
    at: int
    """Characters of that piece that are still in common."""
    piece: Piece | None
    """The piece itself, or the one of `before` that is missing; None for what is no piece."""
    before: str
    """What stood there."""
    after: str
    """What stands there now."""
    lost: Sequence[Piece]
    """Pieces of `after` behind the break that `before` had too."""
    lost_within: int = 0
    """Characters of the piece itself, behind the difference, that both have."""
    canonical: bool = False
    """Whether both mean the same, so that only their bytes differ."""

    @property
    def reason(self) -> Reason:
        """What the cache says of it."""
        return ABOUT[self.cause].reason

    @property
    def lost_bytes(self) -> int:
        """Of text that both have behind the break: in any script a token is a few of them."""
        within = "" if self.piece is None else self.piece.text[-self.lost_within or None :]
        texts = [piece.text for piece in self.lost] + ([within] if self.lost_within else [])
        return sum(map(weight, texts))


def weight(text: str) -> int:
    """Its bytes as UTF-8."""
    return len(text) if text.isascii() else len(utf8(text))
