"""The order in which the bits of a request could be read again, and the request in that order.

Instructions keep their rank: what leaves the system prompt for the end of the request is a value
in a short line (a clock, an id), never a rule. Everything else stays among its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.compare.volatile import PATTERNS
from headstart.insight.layout.bits import Bit
from headstart.insight.layout.segment import Segment

LINE = 200
"""Characters of the longest text that is a fact and no rule."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece of the suggested order."""

    piece: Piece
    segment: Segment
    moved: bool = False
    """It was part of the system prompt and ends the request now."""


def is_fact(text: str) -> bool:
    """A short line with a value of now in it."""
    short = len(text) <= LINE and text.strip().count("\n") == 0
    return short and any(pattern.search(text) for _, pattern in PATTERNS)


def leaves(bit: Bit) -> bool:
    """Whether it would go behind the conversation."""
    early = bit.piece.kind in EARLY and bit.piece.kind != "tool"
    return early and bit.segment is Segment.NOW and is_fact(bit.text)


def rearranged(bits: Sequence[Bit]) -> list[Placed]:
    """By how long they stay, among tools, instructions and in the first message."""
    groups: dict[tuple[int, int], list[Bit]] = {}
    for bit in bits:
        groups.setdefault(_group(bit), []).append(bit)
    tools_last = [bit for bit in bits if bit.piece.kind in EARLY]
    backwards = bool(tools_last) and tools_last[-1].piece.kind == "tool"
    order = sorted(groups, key=lambda group: (_rank(group[0], backwards), group[1]))
    placed = [each for group in order for each in _sorted(groups[group])]
    return [*placed, *_at_the_end(bits, placed)]


def as_given(bits: Sequence[Bit]) -> list[Placed]:
    """All where it is."""
    return [Placed(bit.alone, bit.segment) for bit in bits]


def _group(bit: Bit) -> tuple[int, int]:
    kind = bit.piece.kind
    return (0 if kind == "tool" else 1 if kind in EARLY else 2), bit.piece.message * (
        kind not in EARLY
    )


def _rank(group: int, backwards: bool) -> int:
    """Google renders tools behind the instructions."""
    return 1 - group if backwards and group < 2 else group


def _sorted(bits: Sequence[Bit]) -> Iterator[Placed]:
    if bits[0].piece.kind == "tool":
        bits = sorted(bits, key=lambda bit: (bit.segment, bit.piece.name))
    else:
        bits = sorted(bits, key=lambda bit: bit.segment)
    first = bits[0].piece
    for bit in bits:
        if leaves(bit):
            continue
        if bit.text == bit.piece.text:
            yield Placed(
                bit.alone if bit.piece.mark is None else replace(bit.piece, mark=None), bit.segment
            )
        else:
            piece = replace(
                bit.piece, text=bit.text, mark=None, message=first.message, role=first.role
            )
            yield Placed(piece, bit.segment)


def _at_the_end(bits: Sequence[Bit], placed: Sequence[Placed]) -> Iterator[Placed]:
    messages = [each.piece for each in placed if each.piece.kind not in EARLY]
    last = messages[-1] if messages else None
    own = last is None or last.kind != "user"
    message = 0 if last is None else last.message + own
    for bit in bits:
        if leaves(bit):
            role = "user" if last is None or own else last.role
            piece = Piece("user", bit.piece.address, bit.text, message, role)
            yield Placed(piece, Segment.NOW, moved=True)


def request(asked: Asked, placed: Sequence[Placed]) -> Asked:
    """The request with these pieces."""
    return replace(asked, pieces=[each.piece for each in placed], tokens=None)
