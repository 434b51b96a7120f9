"""What requests begin with: tools and instructions, by which they are grouped."""

from headstart.contracts.prompt import digest
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY
from headstart.insight.shown import Show

SHORT = 32
"""Characters of its first words."""
UNKNOWN = "(no body)"
NONE = "(no instructions)"


def prefix_of(asked: Asked) -> tuple[str, int]:
    """A name for equal beginnings, and how many pieces they are."""
    count = next(
        (n for n, piece in enumerate(asked.pieces) if piece.kind not in EARLY), len(asked.pieces)
    )
    return digest(*(piece.digest for piece in asked.pieces[:count])).hex()[:8], count


def named(asked: Asked, key: str, count: int, show: Show) -> str:
    """For people: its first words and its name."""
    if not count:
        return NONE
    early = asked.pieces[:count]
    first = next((piece for piece in early if piece.kind != "tool"), early[0])
    words = first.name if first.kind == "tool" else first.text[:SHORT]
    return f"{key} {show(words)}"
