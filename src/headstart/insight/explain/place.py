"""Where a request leaves an earlier one."""

from dataclasses import dataclass, replace
from typing import Literal

from headstart.contracts.prompt import Kind
from headstart.insight.asked.asked import Asked, Format
from headstart.insight.asked.piece import Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.common import common_prefix
from headstart.insight.compare.compare import first_difference

Segment = Literal["tools", "system", "messages", "settings", "end"]
"""`end`: all of the earlier prompt is there."""
SEGMENTS: dict[Kind, Segment] = {"tool": "tools", "system": "system", "developer": "system"}
FIELDS: dict[Cause, str] = {Cause.MODEL: "/model", Cause.CACHE_KEY: "/prompt_cache_key"}
SETTINGS: dict[str, dict[Format, str]] = {
    "effort": {"anthropic": "/output_config/effort"},
    "format": {"anthropic": "/output_config/format"},
    "text.format": {"chat": "/response_format", "responses": "/text/format"},
    "reasoning.effort": {"chat": "/reasoning_effort", "responses": "/reasoning/effort"},
    "text.verbosity": {"chat": "/verbosity", "responses": "/text/verbosity"},
}
"""Where a body has the settings that it calls otherwise than the contract does."""


@dataclass(frozen=True, slots=True)
class Place:
    """The first difference. Pieces and characters are exact; tokens are as they were counted."""

    segment: Segment
    pointer: str
    """RFC 6901, in the later body; empty where it is in no body."""
    message: int | None
    """Index of the message in the later body."""
    piece: int
    """Pieces of the later prompt that are still whole."""
    character: int
    """Characters of the piece, or of the field, that are still the same."""
    before: str
    """What stood there."""
    after: str
    """What stands there now."""
    bytes_equal: bool
    """Whether the two pieces are the same as they are sent."""
    canonical_equal: bool
    """Whether they mean the same: JSON with sorted keys, and what differs only in form."""


def place(before: Asked, after: Asked, found: Break | None, marked: str = "") -> Place:
    """By the break; without one, where the two part, or what is `marked` wrongly (a pointer)."""
    if found is None:
        return _marked(_parting(before, after), after, marked)
    piece = found.piece
    if piece is None:
        pointer = FIELDS.get(found.cause, "") or _field(after, found.after)
        if found.cause is Cause.NAMESPACE:
            pointer = ""
        return Place(
            "settings", pointer, None, found.index, 0, found.before, found.after, False, False
        )
    gone = all(piece is not each for each in after.pieces)
    return Place(
        SEGMENTS.get(piece.kind, "messages"),
        "" if gone else piece.pointer,
        _message(piece),
        found.index,
        found.at,
        found.before,
        found.after,
        bytes_equal=False,
        canonical_equal=found.canonical,
    )


def _parting(before: Asked, after: Asked) -> Place:
    index = first_difference(before.pieces, after.pieces)
    if index == len(after.pieces):
        return Place("end", "", None, index, 0, "", "", bytes_equal=True, canonical_equal=True)
    other = after.pieces[index]
    segment = SEGMENTS.get(other.kind, "messages")
    if index == len(before.pieces):
        return Place("end", other.pointer, _message(other), index, 0, "", other.text, False, False)
    one = before.pieces[index]
    at = 0
    if one.kind == other.kind and not (one.media or other.media):
        at = common_prefix(one.text, other.text)
    return Place(
        segment,
        other.pointer,
        _message(other),
        index,
        at,
        one.text[at:],
        other.text[at:],
        one.text == other.text,
        one.json and other.json and one.canonical == other.canonical,
    )


def _marked(parting: Place, after: Asked, pointer: str) -> Place:
    """The same, with the place of what is at fault."""
    piece = next((each for each in after.pieces if pointer and each.pointer == pointer), None)
    if piece is None:
        return replace(parting, pointer=pointer) if pointer else parting
    segment = SEGMENTS.get(piece.kind, "messages")
    return replace(parting, segment=segment, pointer=pointer, message=_message(piece))


def _message(piece: Piece) -> int | None:
    return None if piece.message < 0 else piece.message


def _field(after: Asked, said: str) -> str:
    """The pointer of a setting, from how a break spells it: `name: value`."""
    name = said.partition(":")[0]
    return SETTINGS.get(name, {}).get(after.format, f"/{name}")
