"""Cache markers laid anew: at the end of what stays, on the latest turn, and within reach."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headstart.contracts.prompt import Mark
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.fix.draft import Draft
from headstart.insight.lint.marks import BY_MARKS
from headstart.ledger import Profile, Rules

KEYS = ("cache_control", "prompt_cache_breakpoint")
CAUSES = frozenset(
    (
        Cause.NO_MARKER,
        Cause.TOO_MANY_MARKERS,
        Cause.LOOKBACK,
        Cause.MARKER_AFTER_VOLATILE,
        Cause.MARKER_REFUSED,
        Cause.LIFETIME_CHANGED,
    )
)
BACK = 19
"""Pieces from one marker to the next: each is at most one of the 20 positions that are looked at
(rules A3, O7)."""
MOST = 4
"""Markers, where the vendor says no number."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where markers go."""

    name: str
    edge: bool = False
    """At the end of what stays of tools and system prompt."""
    latest: bool = False
    """At the end of the last message."""
    back: bool = False
    """And so many pieces before it, as often as the vendor takes markers."""


LAYOUTS: Sequence[Layout] = (
    Layout("markers removed that the vendor refuses"),
    Layout("a marker at the end of what stays", edge=True),
    Layout("a marker on the latest turn", latest=True),
    Layout("markers at the end of what stays and on the latest turn", edge=True, latest=True),
    Layout("markers at the end of what stays and within reach", edge=True, latest=True, back=True),
)


class Marked:
    """One layout for all requests of vendors that cache by markers."""

    causes = CAUSES

    def __init__(
        self, layout: Layout, lasting: Collection[bytes], rules: Rules, *, one_life: bool
    ) -> None:
        """`lasting`: digests of pieces that come again; `one_life`: whether all markers of a model
        get the lifetime that its first had."""
        self.name = f"{layout.name}, of one lifetime" if one_life else layout.name
        self._layout = layout
        self._lasting = lasting
        self._rules = rules
        self._one_life = one_life
        self.begin()

    def begin(self) -> None:
        """Forgets lifetimes."""
        self._lives: dict[str, str] = {}

    def apply(self, draft: Draft) -> bool:
        """Takes all markers away and sets those of the layout."""
        asked = draft.asked
        profile = self._rules.profile(asked.vendor, asked.model)
        key = key_of(asked)
        if key is None:
            return False
        old = {piece.address: piece.mark for piece in asked.pieces if piece.mark is not None}
        before = [*_held(draft.body)]
        laid = profile.contract in BY_MARKS
        if not laid and not old and "prompt_cache_options" not in draft.body:
            return False
        life = self._life(asked, profile) if self._one_life else None
        changed = _options(draft.body, profile, life)
        _strip(draft.body)
        places = self._places(draft, profile) if laid else []
        lives = _lives([old.get(piece.address) for piece in places], profile, life)
        for piece, ttl in zip(places, lives, strict=True):
            _mark(draft, piece, key, ttl)
        return changed or before != [*_held(draft.body)]

    def _life(self, asked: Asked, profile: Profile) -> str | None:
        """The first that was told for this model."""
        marks = [piece.mark for piece in asked.pieces if piece.mark is not None]
        wishes = asked.wishes
        automatic = [wishes.automatic] if wishes.automatic is not None else []
        told = [mark.ttl for mark in (*marks, *automatic)] or ([wishes.ttl] if wishes.told else [])
        life = (told[0] or wishes.ttl or profile.default_lifetime) if told else None
        if life in profile.lifetimes and life is not None:
            self._lives.setdefault(asked.model, life)
        return self._lives.get(asked.model)

    def _places(self, draft: Draft, profile: Profile) -> list[Piece]:
        """In their order, at most as many as the vendor takes."""
        pieces = draft.asked.pieces
        may = [
            number
            for number, piece in enumerate(pieces)
            if piece.markable and _can_carry(draft, piece) and piece.text not in draft.moved
        ]
        most = (profile.marks or MOST) - ("cache_control" in draft.body)
        edge = self._edge(pieces, may) if self._layout.edge else None
        found = [] if edge is None else [edge]
        if self._layout.latest and may and pieces[may[-1]].message == pieces[-1].message:
            at = may[-1]
            while at is not None and at not in found and len(found) < most:
                found.append(at)
                if not self._layout.back:
                    break
                reach = [each for each in may if at - BACK <= each < at]
                at = reach[0] if reach else None  # type: ignore[assignment]
        return [pieces[number] for number in sorted(found)[:most]]

    def _edge(self, pieces: Sequence[Piece], may: Sequence[int]) -> int | None:
        """The last piece before the conversation up to which all come again."""
        end = 0
        while end < len(pieces) and pieces[end].kind in EARLY:
            if pieces[end].digest not in self._lasting:
                break
            end += 1
        return max((number for number in may if number < end), default=None)


def key_of(asked: Asked) -> str | None:
    """How a marker is called in this format; None where there are none, or none known here."""
    match asked.format, asked.vendor:
        case "anthropic", _:
            return "cache_control"
        case (("chat" | "responses"), "openai"):
            return "prompt_cache_breakpoint"
    return None


def _can_carry(draft: Draft, piece: Piece) -> bool:
    """Whether a marker can stand on it in the body."""
    value, last = draft.at(piece.address), piece.address[-1]
    if piece.kind in ("tool_use", "thinking") and draft.asked.format != "anthropic":
        return False
    if len(piece.address) > 4 or not (piece.text or piece.kind == "tool_result"):
        return False
    return isinstance(value, dict) or last in ("content", "system", "output")


def _mark(draft: Draft, piece: Piece, key: str, life: str | None) -> None:
    mark = {"type": "ephemeral"} if key == "cache_control" else {"mode": "explicit"}
    if life is not None:
        mark["ttl"] = life
    value = draft.at(piece.address)
    if isinstance(value, dict):
        value[key] = mark
    else:
        kind = "input_text" if draft.asked.format == "responses" else "text"
        draft.put(piece.address, [{"type": kind, "text": value, key: mark}])


def _lives(old: Sequence[Mark | None], profile: Profile, lifetime: str | None) -> list[str | None]:
    """Each its own where it had one that the vendor knows, the longer ones first."""
    known = profile.lifetimes
    told = [mark.ttl if mark is not None and mark.ttl in known else None for mark in old]
    if lifetime is not None:
        told = [lifetime if lifetime in known else None] * len(old)

    def seconds(life: str | None) -> float:
        named = known.get(life or profile.default_lifetime or "")
        return 0.0 if named is None else named.seconds

    return sorted(told, key=seconds, reverse=True)


def _options(body: dict[str, Any], profile: Profile, lifetime: str | None) -> bool:
    """What is said for all markers at the top level."""
    changed = False
    if profile.contract not in BY_MARKS:
        return body.pop("prompt_cache_options", None) is not None
    for name in ("prompt_cache_options", "cache_control"):
        options = body.get(name)
        if not isinstance(options, dict):
            continue
        ttl = options.get("ttl")
        if name == "cache_control" and lifetime is None and ttl is not None:
            del options["ttl"]  # It comes last, so it must not outlive those before it.
            changed = True
        elif lifetime is not None and ttl is not None and ttl != lifetime:
            options["ttl"] = lifetime
            changed = True
    return changed


def _held(value: Any, address: tuple[str | int, ...] = ()) -> Any:
    """Markers below the top level, with their places."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in KEYS and isinstance(each, dict) and address:
                yield address, each
            elif name not in _OTHER:
                yield from _held(each, (*address, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _held(each, (*address, number))


_OTHER = frozenset(
    ("input_schema", "parameters", "arguments", "function_call", "metadata", "source")
)
"""Fields that hold the client's own values: what is called like a marker there is none."""


def _strip(body: Mapping[str, Any]) -> None:
    for address, _ in [*_held(body)]:
        holder: Any = body
        for step in address:
            holder = holder[step]
        for key in KEYS:
            holder.pop(key, None)
