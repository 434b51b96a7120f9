"""What the linter's findings call for."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from headstart.contracts.prompt import Kind
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.fix.marks import CAUSES as MARKERS
from headstart.insight.fix.passages import Behind, lasting
from headstart.insight.fix.rewrite import Rewrite
from headstart.insight.fix.same import FORMS, AsFirst
from headstart.insight.fix.tools import SortedKeys, SortedTools
from headstart.insight.fix.values import VALUES, Later, Shape, shapes
from headstart.insight.lint.breaks import Gathered

USERS = "it stands in a turn of the conversation, and those are never edited"
ORDERS = "its line may also say what to do, and instructions keep their place"
SYSTEM = ("system", "developer")
NO_FORM = "no line or sentence of its own holds it"


@dataclass(slots=True)
class Needs:
    """Rewrites that are worth a trial, and what none can help."""

    texts: list[Rewrite] = field(default_factory=list)
    """Whatever is done with values."""
    values: list[Shape] = field(default_factory=list)
    markers: bool = False
    one_life: bool = False
    """Whether lifetimes changed."""
    goes_on: bool = False
    """Whether what comes behind the system prompt could be read too."""
    unfit: dict[Cause, str] = field(default_factory=dict)
    """Why nothing is tried."""
    partly: dict[Cause, str] = field(default_factory=dict)
    """Why something is tried for some places of a cause alone."""

    def plans(self) -> list[list[Rewrite]]:
        """Those of texts; values first to the place that keeps their priority."""
        if not self.values:
            return [self.texts]
        ends = [Later(self.values, "system")]
        if self.goes_on:
            ends.append(Later(self.values, "question"))
        return [[end, *self.texts] for end in ends]


def needs(broken: Iterable[Gathered], marked: Collection[Cause]) -> Needs:
    """Of breaks between requests, and of what is wrong with marks."""
    found = Needs()
    kinds: dict[Cause, set[Kind]] = {}
    stays: set[str] = set()
    for each in broken:
        found.goes_on = found.goes_on or any(_goes_on(asked) for asked in (each.before, each.after))
        cause, piece = each.first.cause, each.first.piece
        early = piece is not None and piece.kind in EARLY
        if piece is not None and cause in FORMS:
            kinds.setdefault(cause, set()).add(piece.kind)
        elif cause is Cause.TOOL_ORDER:
            found.texts.append(SortedTools())
        elif cause is Cause.KEY_ORDER:
            found.texts.append(SortedKeys())
        elif cause in VALUES:
            _value(found, each) if early else found.unfit.setdefault(cause, USERS)
        elif cause in (Cause.RETRIEVAL, Cause.ORDER):
            if early:
                stays |= lasting(each.before.pieces, each.after.pieces)
            else:
                found.unfit.setdefault(cause, USERS)
    if stays:
        found.texts.append(Behind(frozenset(stays)))
    found.texts += [AsFirst(cause, frozenset(each)) for cause, each in kinds.items()]
    found.markers = bool(MARKERS & set(marked))
    found.one_life = Cause.LIFETIME_CHANGED in marked
    return found


def _goes_on(asked: Asked) -> bool:
    """Whether more than the question comes behind the system prompt: turns, or tools (Gemini)."""
    last = max((n for n, piece in enumerate(asked.pieces) if piece.kind in SYSTEM), default=-1)
    behind = asked.pieces[last + 1 :]
    return any(piece.role in ("assistant", "model") or piece.kind == "tool" for piece in behind)


def _value(found: Needs, each: Gathered) -> None:
    piece, cause = each.first.piece, each.first.cause
    assert piece is not None
    old = _there(each.before.pieces, piece, each.first.index)
    new = list(shapes(_said(old), _said(piece))) if old is not None else []
    good = [shape for shape in new if not shape.instructs]
    found.values += [shape for shape in good if shape not in found.values]
    if not new:
        found.unfit.setdefault(cause, NO_FORM)
    elif not good:
        found.unfit.setdefault(cause, ORDERS)
    elif len(good) < len(new):
        found.partly.setdefault(cause, ORDERS)


def _there(pieces: Sequence[Piece], piece: Piece, index: int) -> Piece | None:
    return pieces[index] if index < len(pieces) and pieces[index].kind == piece.kind else None


def _said(piece: Piece) -> str:
    """Of a tool, what it says in its description: that is where a value can be taken out."""
    if piece.kind != "tool":
        return piece.text
    value = json.loads(piece.text)
    inner = value.get("function", value)
    return str(inner.get("description", "")) if isinstance(inner, dict) else ""
