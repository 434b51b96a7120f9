"""What no rewrite may do, judged from the two requests alone.

- What says what to do, in tools, system or developer text, stays in its part of the prompt, and in
  its order there. Tools are a set: their order says nothing.
- Nothing that may say what to do stands behind the user's text that did not stand there before.
- No text is lost and none is new. What moved stands once in its new place.
- Turns of user, assistant and tools are as they were; behind the last message of the user's there
  may be one more text, of lines from the system prompt that only tell something.
- Roles, and all that is no prompt, are as they were; of caching only markers and lifetimes differ.

Two texts are the same if they differ in white space, in characters that can't be seen, in composed
and decomposed letters, or in the order of keys of JSON.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.formats.values import fields
from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.fix.words import instructs

PROMPT = frozenset(
    (
        "tools",
        "functions",
        "system",
        "messages",
        "contents",
        "input",
        "instructions",
        "systemInstruction",
        "system_instruction",
        "cache_control",
        "prompt_cache_options",
    )
)
"""Fields that are compared by what they say; all others have to be equal."""
_HIDDEN = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CUTS = re.compile(
    r"(?<=[.!?])[ \t]+(?=[^\sa-z]|[\w-]+[ \t]?[=:])|(?<=[。！？])|[ \t]+(?=\([^()\n]*\)[ \t]*$)"
)
_JSON = json.JSONDecoder()
MOST_LINES = 1 << 14
"""Whose parts are remembered: requests of one recording have most lines in common."""


class Crossed(Exception):
    """A rewrite went too far. `str()` says how, without any of the request's text."""


def guard(before: Asked, after: Asked) -> None:
    """Raises Crossed."""
    others = [
        {name: value for name, value in asked.body.items() if name not in PROMPT}
        for asked in (before, after)
    ]
    if others[0] != others[1]:
        raise Crossed("a setting was changed")
    _roles(before, after)
    added = _turns(before, after)
    early = [[piece for piece in asked.pieces if piece.kind in EARLY] for asked in (before, after)]
    from_tools = _tools(*early)
    _system(early[0], early[1], added, from_tools)


def _roles(before: Asked, after: Asked) -> None:
    if _spoken(before.pieces) != _spoken(after.pieces):
        raise Crossed("a role was changed")


def _spoken(pieces: Sequence[Piece]) -> list[tuple[int, str]]:
    """Who speaks, message by message."""
    turns = [(piece.message, piece.role) for piece in pieces if piece.kind != "tool"]
    return list(dict.fromkeys(turns))


def _turns(before: Asked, after: Asked) -> list[str]:
    """What was added behind the last message of the user's, as lines."""
    old = [piece for piece in before.pieces if piece.kind not in EARLY]
    new = [piece for piece in after.pieces if piece.kind not in EARLY]
    last = max((piece.message for piece in old if piece.role == "user"), default=-1)
    added: list[str] = []
    one, other = _by_message(old), _by_message(new)
    if one.keys() != other.keys():
        raise Crossed("a message was added or lost")
    for message, pieces in one.items():
        theirs = other[message]
        if [piece.digest for piece in pieces] == [piece.digest for piece in theirs]:
            continue
        if [*map(_whole, pieces)] == [*map(_whole, theirs)]:
            continue
        added = _appended(pieces, theirs)
        if message != last or not added:
            raise Crossed("a message was edited")
    if any(map(instructs, added)):
        raise Crossed("an instruction stands behind the user's text")
    return added


def _by_message(pieces: Iterable[Piece]) -> dict[int, list[Piece]]:
    found: dict[int, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(piece.message, []).append(piece)
    return found


def _appended(old: Sequence[Piece], new: Sequence[Piece]) -> list[str]:
    """The lines of one more text at the end; none if anything else differs."""
    if len(new) == len(old) + 1 and [*map(_whole, old)] == [*map(_whole, new[:-1])]:
        return _lines(new[-1].text)
    if len(new) == len(old) and [*map(_whole, old[:-1])] == [*map(_whole, new[:-1])]:
        start, text = old[-1].text.rstrip(), new[-1].text
        if text.startswith(f"{start}\n\n"):
            return _lines(text[len(start) :])
    return []


def _whole(piece: Piece) -> tuple[str, str, str, str, str]:
    return piece.kind, piece.name, piece.id, piece.media, essence(piece.text)


def _tools(before: Sequence[Piece], after: Sequence[Piece]) -> list[str]:
    """Lines that were taken out of tools' descriptions."""
    one, other = ([piece for piece in each if piece.kind == "tool"] for each in (before, after))
    if [piece.text for piece in one] == [piece.text for piece in other]:
        return []
    left = [_apart(piece) for piece in other]
    taken: list[str] = []
    for piece in one:
        bare, said = _apart(piece)
        twin = next(
            (each for each in left if each[0] == bare and _orders(said) == _orders(each[1])), None
        )
        if twin is None:
            raise Crossed("a tool says something else")
        left.remove(twin)
        if Counter(twin[1]) - Counter(said):
            raise Crossed("a tool says more")
        taken += (Counter(said) - Counter(twin[1])).elements()
    if left:
        raise Crossed("a tool was added")
    return taken


def _apart(piece: Piece) -> tuple[str, list[str]]:
    """A tool without its description, whatever the order of keys; and that as lines."""
    value = json.loads(piece.text)
    said = []
    for owner in (value, fields(value).get("function")):
        if isinstance(owner, dict) and isinstance(owner.get("description"), str):
            said += _lines(owner["description"])
            owner["description"] = ""
    return json.dumps(value, sort_keys=True), said


def _system(
    before: Sequence[Piece], after: Sequence[Piece], added: Sequence[str], from_tools: Sequence[str]
) -> None:
    one, other = ([piece for piece in each if piece.kind != "tool"] for each in (before, after))
    if not (added or from_tools) and [p.digest for p in one] == [p.digest for p in other]:
        return
    said = [[(piece, _lines(piece.text)) for piece in each] for each in (one, other)]
    orders = [
        [
            (piece.kind, piece.message, line)
            for piece, lines in each
            for line in lines
            if _instructs(line)
        ]
        for each in said
    ]
    if orders[0] != orders[1]:
        raise Crossed("an instruction would leave its place in the system prompt")
    there, here = (Counter(line for _, lines in each for line in lines) for each in said)
    there.update(from_tools)
    here.update(added)
    if there != here:
        raise Crossed("text was lost, or came from nowhere")


def _orders(lines: Iterable[str]) -> list[str]:
    """What says what to do, in its order."""
    return [line for line in lines if _instructs(line)]


_instructs = lru_cache(MOST_LINES)(instructs)


def _lines(text: str) -> list[str]:
    """Sentences and lines with one space between words; a JSON value is one spelling of itself."""
    return [part for line in _json(text.replace("\r", "\n")).split("\n") for part in _parts(line)]


@lru_cache(MOST_LINES)
def _parts(line: str) -> tuple[str, ...]:
    said = _HIDDEN.sub("", unicodedata.normalize("NFC", line))
    return tuple(part for each in _CUTS.split(said) if (part := " ".join(each.split())))


def essence(text: str) -> str:
    """What a text says, without white space, hidden characters and the order of keys."""
    said = unicodedata.normalize("NFC", _json(text))
    return "".join(_HIDDEN.sub("", said).split())


def _json(text: str) -> str:
    """With whole JSON values in one spelling."""
    said, begin = [], 0
    for found in re.finditer(r"[\[{]", text):
        if found.start() < begin:
            continue
        try:
            value, end = _JSON.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        said += [text[begin : found.start()], _spelled(value)]
        begin = end
    return "".join([*said, text[begin:]])


def _spelled(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False)
