"""Where one prompt's pieces leave another's, and what that says."""

import re
from collections.abc import Sequence

from headstart.insight.asked.piece import EARLY, Piece, utf8
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.shape import in_common, of_messages, of_tools
from headstart.insight.compare.texts import LONG, PARAGRAPH, Difference, difference


def in_pieces(before: Sequence[Piece], after: Sequence[Piece], first: int) -> Break | None:
    """The break behind the `first` pieces that both begin with; None if one of them ends there."""
    if first in (len(before), len(after)):
        return None
    one, other = before[first], after[first]
    if "tool" in (one.kind, other.kind):
        return _in_tools(before, after, first)
    lost = in_common(before[first:], after[first:])
    if one.text == other.text and one.kind in EARLY and other.kind in EARLY:
        kinds = (f"{one.kind} {one.pointer}", f"{other.kind} {other.pointer}")
        return Break(Cause.FORM, first, 0, other, kinds[0], kinds[1], lost, canonical=True)
    if _is_summary(before, after, first):
        return Break(Cause.COMPACTION, first, 0, other, one.text, other.text, lost)
    shaped = None
    if not _same_place(before, after, first):
        shaped = of_messages(
            [piece.digest for piece in before[first:]],
            [piece.digest for piece in after[first:]],
            oldest=first == 0 or before[first - 1].kind in EARLY,
        )
    differs = _texts(one, other)
    if shaped is None and one.kind == other.kind and differs is not None:
        turns = [before[-1].message, after[-1].message]
        now = turns == [one.message, other.message]
        return _in_text(differs, other, first, lost, now=now)
    return Break(shaped or _edited(other), first, 0, other, one.text, other.text, lost)


def _same_place(before: Sequence[Piece], after: Sequence[Piece], first: int) -> bool:
    """Whether both go on alike right behind the piece that differs."""
    nxt = first + 1
    return nxt < min(len(before), len(after)) and before[nxt].digest == after[nxt].digest


def _is_summary(before: Sequence[Piece], after: Sequence[Piece], first: int) -> bool:
    """Whether a conversation that was longer begins anew with words about itself."""
    longer = before[-1].message - after[-1].message > 1
    piece = after[first]
    said = piece.kind != "assistant" and len(utf8(piece.text)) >= LONG
    return longer and said and bool(_SUMMARY.search(piece.text[:LONG]))


_SUMMARY = re.compile(
    r"\b(?:summar|so far|previous conversation|earlier conversation|conversation history|recap"
    r"|compact|continued from)|摘要|总结|小结|概要|概述|此前|之前的对话|到目前为止|上文",
    re.IGNORECASE,
)


def _in_tools(before: Sequence[Piece], after: Sequence[Piece], first: int) -> Break:
    tools = [[piece for piece in pieces if piece.kind == "tool"] for pieces in (before, after)]
    lost = in_common(before[first:], after[first:])
    cause = of_tools(*tools)
    one, other = before[first], after[first]
    if cause is not None:
        names = [", ".join(tool.name for tool in each) for each in tools]
        piece = other if other.kind == "tool" else one
        alike = cause is Cause.KEY_ORDER
        return Break(cause, first, 0, piece, names[0], names[1], lost, canonical=alike)
    differs = _texts(one, other)
    assert differs is not None, "they have one name and differ"
    worded = differs.cause in (Cause.WORDING, Cause.RETRIEVAL, Cause.JSON_ORDER)
    named = Cause.TOOL_DEFINITION if worded else differs.cause
    return Break(
        named, first, differs.at, other, differs.before, differs.after, lost, differs.behind
    )


def _texts(one: Piece, other: Piece) -> Difference | None:
    """None where one can't say more of them than that they differ."""
    if one.media or other.media:
        return None
    if one.json and other.json and one.canonical == other.canonical and one.text != other.text:
        found = difference(one.text, other.text)
        assert found is not None
        return Difference(Cause.JSON_ORDER, found.at, found.before, found.after, found.behind)
    return difference(one.text, other.text)


def _in_text(
    differs: Difference, piece: Piece, index: int, lost: Sequence[Piece], *, now: bool
) -> Break:
    """`now`: both are the turns that ask."""
    cause = differs.cause
    if cause is Cause.WORDING and _is_passage(differs, piece):
        said = (each for each in lost if each.text)
        stays = any(each.kind in EARLY or each.message == piece.message for each in said)
        cause = _passage(piece.text) if stays else _edited(piece)
    elif cause is Cause.RETRIEVAL:
        cause = _passage(piece.text)
    elif cause is Cause.WORDING and piece.kind in EARLY and _is_section(differs):
        cause = Cause.SYSTEM_CHANGED
    elif cause is Cause.WORDING and piece.kind not in EARLY:
        cause = Cause.ORDER if now and piece.kind == "user" else _edited(piece)
    return Break(
        cause,
        index,
        differs.at,
        piece,
        differs.before,
        differs.after,
        lost,
        differs.behind,
        canonical=cause in _MEANT_ALIKE,
    )


def _passage(text: str) -> Cause:
    """What a passage is that differs in front of what stays."""
    return Cause.RETRIEVAL if _RETRIEVED.search(text) else Cause.ORDER


_RETRIEVED = re.compile(
    r"<(?:document|doc|source|passage|chunk|context|result)s?\b|\b(?:retriev|passage|document|source"
    r"|search result|knowledge base|context|excerpt|score|relevan)|资料|文档|检索|参考|片段|来源",
    re.IGNORECASE,
)

_MEANT_ALIKE = (
    Cause.WHITESPACE,
    Cause.LINE_ENDS,
    Cause.UNICODE_FORM,
    Cause.INVISIBLE,
    Cause.WIDTH,
    Cause.JSON_ORDER,
)


def _is_section(differs: Difference) -> bool:
    """Whether a part of it came or went: much of it, or whole lines."""
    less, more = sorted((differs.before, differs.after), key=len)
    whole = not less.strip() and len(more.strip()) >= PARAGRAPH and "\n" in more
    return whole or len(more) - len(less) >= LONG


def _is_passage(differs: Difference, piece: Piece) -> bool:
    """Whether more of the piece is new than old."""
    return 2 * (differs.at + differs.behind) < len(piece.text)


def _edited(piece: Piece) -> Cause:
    if piece.media:
        return Cause.MEDIA
    return Cause.SYSTEM_CHANGED if piece.kind in EARLY else Cause.HISTORY_EDITED
