"""What happened to a conversation, as far as its pieces tell without their text."""

from collections import Counter
from collections.abc import Sequence

from headstart.insight.asked.piece import Piece
from headstart.insight.causes import Cause

Digests = Sequence[bytes]


def of_tools(before: Sequence[Piece], after: Sequence[Piece]) -> Cause | None:
    """How two lists of tools differ; None if a tool of one name and place says something else."""
    if Counter(tool.digest for tool in before) == Counter(tool.digest for tool in after):
        return Cause.TOOL_ORDER
    names = [[tool.name for tool in tools] for tools in (before, after)]
    if Counter(names[0]) != Counter(names[1]):
        return Cause.TOOLS_CHANGED
    changed = [
        (one, other)
        for one in before
        for other in after
        if one.name == other.name and one.digest != other.digest
    ]
    if changed and all(one.canonical == other.canonical for one, other in changed):
        return Cause.KEY_ORDER
    return None


def of_messages(before: Digests, after: Digests, *, oldest: bool) -> Cause | None:
    """How two conversations went apart, from their first difference on; None if in one piece only.

    Both begin with what differs. `oldest`: that is where the conversation begins.
    """
    common = set(before) & set(after)
    there = [each for each in before if each in common]
    here = [each for each in after if each in common]
    if not common:
        return None
    if len(common) > 1 and sorted(there) == sorted(here) and there != here:
        return Cause.RETRIEVAL_ORDER
    added, dropped = after.index(here[0]), before.index(here[0])
    if added == 0:
        return Cause.WINDOW if dropped > 1 or oldest else Cause.HISTORY_EDITED
    if dropped == 0:
        return Cause.HISTORY_EDITED
    return Cause.COMPACTION if dropped >= 3 * added else None


def in_common(before: Sequence[Piece], after: Sequence[Piece]) -> list[Piece]:
    """The pieces of `after` that `before` has too, in the same order where they repeat."""
    left = Counter(piece.digest for piece in before)
    found = []
    for piece in after:
        if left[piece.digest]:
            left[piece.digest] -= 1
            found.append(piece)
    return found
