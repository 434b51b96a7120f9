"""Two requests, the earlier first: where the later one leaves it, and why.

A difference is a break only if it costs something: text behind it that both have and that would
have been read. Another question on the same prefix, a branch or another conversation is none.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from headstart.contracts import anthropic, openai_settings
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.shape import in_common, of_messages, of_tools
from headstart.insight.compare.texts import Difference, difference
from headstart.ledger import Rules

MUCH = 200
"""Characters that both have behind a difference: then two requests meant to begin alike."""
SOME = 24
"""As much is enough where the difference itself says that the same was meant."""


def compare(before: Asked, after: Asked) -> Break | None:
    """Why `after` can't read all that it has in common with `before`; None if it can."""
    first = first_difference(before.pieces, after.pieces)
    found = _apart(before, after, first) or _in_pieces(before.pieces, after.pieces, first)
    if found is not None and found.lost_characters >= _least(found, before, after):
        return found
    return _setting(before, after, first) or _form(before, after, first)


def _least(found: Break, before: Asked, after: Asked) -> int:
    """What has to be lost before anybody needs to hear of it."""
    piece = found.piece
    if piece is not None and piece.kind not in EARLY:
        turns = [asked.pieces[-1].message for asked in (before, after)]
        if turns == [piece.message] * 2:
            return MUCH  # Another question is no break.
    return SOME if found.cause in VALUES or found.canonical else MUCH


VALUES = (Cause.CLOCK, Cause.DATE, Cause.IDENTIFIER, Cause.COUNTER, Cause.NONCE)


def first_difference(before: Sequence[Piece], after: Sequence[Piece]) -> int:
    """The number of pieces that both begin with."""
    most = min(len(before), len(after))
    for index in range(most):
        if before[index].digest != after[index].digest:
            return index
    return most


def _apart(before: Asked, after: Asked, first: int) -> Break | None:
    """What keeps all of two requests apart, whatever they say."""
    for cause, one, other in (
        (Cause.NAMESPACE, before.tenant, after.tenant),
        (Cause.MODEL, before.model, after.model),
        (Cause.CACHE_KEY, _partition(before), _partition(after)),
    ):
        if one != other:
            return Break(cause, 0, 0, None, one, other, after.pieces[:first])
    return None


def _partition(asked: Asked) -> str:
    """Up to GPT-5.5, and with others, a key only guides routing (rule O14)."""
    apart = _rules().profile(asked.vendor, asked.model).contract in _PARTITIONED
    return asked.partition if apart else ""


_PARTITIONED = ("openai_breakpoints", "anthropic")


@cache
def _rules() -> Rules:
    return Rules.packaged()


def _form(before: Asked, after: Asked, first: int) -> Break | None:
    """The same text of the system prompt, once as a string and once as a list of blocks."""
    for index in range(first):
        one, other = before.pieces[index], after.pieces[index]
        if one.kind in EARLY and len(one.address) != len(other.address):
            forms = (one.pointer, other.pointer)
            return Break(Cause.FORM, index, 0, other, forms[0], forms[1], (), canonical=True)
    return None


def _setting(before: Asked, after: Asked, first: int) -> Break | None:
    """A change of what counts to the prompt without being a piece of it."""
    for name in _breakers(after):
        one, other = before.settings.get(name), after.settings.get(name)
        default = _defaults(after).get(name)
        if (one or default) == (other or default):
            continue
        kept = _kept(after, name)
        lost = [piece for piece in after.pieces[:first] if piece.kind not in kept]
        if not lost:
            continue
        index = next(i for i, piece in enumerate(after.pieces) if piece.kind not in kept)
        cause = _SETTINGS.get(name, Cause.SETTING)
        return Break(cause, index, 0, None, f"{name}: {one}", f"{name}: {other}", lost)
    return None


_SETTINGS = {"tool_choice": Cause.TOOL_CHOICE, "thinking": Cause.THINKING} | dict.fromkeys(
    ("effort", "reasoning.effort"), Cause.THINKING
)


def _breakers(asked: Asked) -> tuple[str, ...]:
    match asked.vendor:
        case "anthropic":
            return (*anthropic.SYSTEM_SETTINGS, *anthropic.MESSAGE_SETTINGS)
        case "openai":
            return openai_settings.BREAKERS
        case _:
            return ()


def _defaults(asked: Asked) -> Mapping[str, str]:
    return anthropic.DEFAULTS if asked.vendor == "anthropic" else openai_settings.DEFAULTS


def _kept(asked: Asked, setting: str) -> frozenset[str]:
    """The pieces that outlive a change of it (the invalidation table of Anthropic's guide)."""
    if asked.vendor != "anthropic":
        return frozenset()
    return frozenset(EARLY) if setting in anthropic.MESSAGE_SETTINGS else frozenset(("tool",))


def _in_pieces(before: Sequence[Piece], after: Sequence[Piece], first: int) -> Break | None:
    if first in (len(before), len(after)):
        return None
    one, other = before[first], after[first]
    if "tool" in (one.kind, other.kind):
        return _in_tools(before, after, first)
    lost = in_common(before[first:], after[first:])
    shaped = None
    if not _same_place(before, after, first):
        shaped = of_messages(
            [piece.digest for piece in before[first:]], [piece.digest for piece in after[first:]]
        )
    differs = _texts(one, other)
    if shaped is None and one.kind == other.kind and differs is not None:
        return _in_text(differs, other, first, lost)
    return Break(shaped or _edited(other), first, 0, other, one.text, other.text, lost)


def _same_place(before: Sequence[Piece], after: Sequence[Piece], first: int) -> bool:
    """Whether both go on alike right behind the piece that differs."""
    nxt = first + 1
    return nxt < min(len(before), len(after)) and before[nxt].digest == after[nxt].digest


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


def _in_text(differs: Difference, piece: Piece, index: int, lost: Sequence[Piece]) -> Break:
    cause = differs.cause
    if cause is Cause.WORDING and _is_passage(differs, piece):
        stays = any(each.kind in EARLY or each.message == piece.message for each in lost)
        cause = Cause.RETRIEVAL if stays else _edited(piece)
    elif cause is Cause.WORDING and piece.kind not in EARLY:
        cause = _edited(piece)
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


_MEANT_ALIKE = (
    Cause.WHITESPACE,
    Cause.LINE_ENDS,
    Cause.UNICODE_FORM,
    Cause.INVISIBLE,
    Cause.WIDTH,
    Cause.JSON_ORDER,
)


def _is_passage(differs: Difference, piece: Piece) -> bool:
    """Whether more of the piece is new than old."""
    return 2 * (differs.at + differs.behind) < len(piece.text)


def _edited(piece: Piece) -> Cause:
    if piece.media:
        return Cause.MEDIA
    return Cause.SYSTEM_CHANGED if piece.kind in EARLY else Cause.HISTORY_EDITED
