"""Two requests, the earlier first: where the later one leaves it, and why.

A difference is a break only if it costs something: text behind it that both have and that would
have been read. Another question on the same prefix, a branch or another conversation is none.
"""

import sys
from collections.abc import Sequence

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.pieces import in_pieces
from headstart.insight.compare.settings import apart, setting

MUCH = 200
"""Bytes that both have behind a difference: then two requests meant to begin alike."""
SOME = 24
"""As much is enough where the difference itself says that the same was meant."""


def compare(before: Asked, after: Asked) -> Break | None:
    """Why `after` can't read all that it has in common with `before`; None if it can."""
    first = first_difference(before.pieces, after.pieces)
    found = apart(before, after, first) or in_pieces(before.pieces, after.pieces, first)
    if found is not None and found.lost_bytes >= _least(found, before, after):
        return found
    return setting(before, after, first) or _form(before, after, first)


def _least(found: Break, before: Asked, after: Asked) -> int:
    """What has to be lost before anybody needs to hear of it."""
    piece = found.piece
    if piece is not None and piece.kind in EARLY and found.canonical:
        return 0  # The same was meant, and a contract that reads whole blocks loses this one.
    if piece is not None and piece.kind not in EARLY:
        turns = [asked.pieces[-1].message for asked in (before, after)]
        if turns == [piece.message] * 2:
            # Another question is no break, nor are documents that are ranked for it.
            return MUCH if found.cause is not Cause.RETRIEVAL_ORDER else sys.maxsize
    if found.cause is Cause.COMPACTION:
        return 0
    if found.cause in TOOLS and found.index:
        return 0  # What comes before the tools is the same.
    named = found.cause in VALUES or found.cause is Cause.MEDIA or found.canonical
    return SOME if named else MUCH


VALUES = (
    Cause.CLOCK,
    Cause.DATE,
    Cause.IDENTIFIER,
    Cause.COUNTER,
    Cause.NONCE,
    Cause.CLIENT_LINE,
)
TOOLS = (Cause.TOOL_ORDER, Cause.TOOLS_CHANGED, Cause.TOOL_DEFINITION)


def first_difference(before: Sequence[Piece], after: Sequence[Piece]) -> int:
    """The number of pieces that both begin with."""
    most = min(len(before), len(after))
    for index in range(most):
        if before[index].digest != after[index].digest:
            return index
    return most


def _form(before: Asked, after: Asked, first: int) -> Break | None:
    """The same text of the system prompt, once as a string and once as a list of blocks."""
    for index in range(first):
        one, other = before.pieces[index], after.pieces[index]
        if one.kind in EARLY and len(one.address) != len(other.address):
            forms = (one.pointer, other.pointer)
            return Break(Cause.FORM, index, 0, other, forms[0], forms[1], (), canonical=True)
    return None
