"""Values of now, moved from the front of the prompt behind what stays."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from headstart.insight.asked.formats.values import fields
from headstart.insight.asked.piece import Address
from headstart.insight.causes import Cause
from headstart.insight.compare.common import common_prefix, common_suffix
from headstart.insight.compare.volatile import value_at
from headstart.insight.fix.draft import Draft
from headstart.insight.fix.units import units, without
from headstart.insight.fix.words import instructs

VALUES = frozenset((Cause.CLOCK, Cause.DATE, Cause.IDENTIFIER, Cause.COUNTER, Cause.NONCE))
AROUND = 120
"""Most characters around a value that is moved with its line; more is a text of its own."""
LONGEST = 100
"""Of a value."""
_WORD = re.compile(r"[\w+/=.:-]")
_SAYS = re.compile(r"\w{2}|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Shape:
    """A line or sentence that is the same but for a value."""

    before: str
    after: str
    known: bool
    """Whether the value looks like one of now; else the words around it have to tell it."""

    def fits(self, text: str) -> bool:
        """Whether a unit is such a line."""
        rest = len(text) - len(self.before) - len(self.after)
        if not 0 < rest <= LONGEST or "\n" in text:
            return False
        if not (text.startswith(self.before) and text.endswith(self.after)):
            return False
        return not self.known or value_at(text, len(self.before)) is not None

    @property
    def instructs(self) -> bool:
        """Whether it also says what to do: then it has to stay."""
        return instructs(f"{self.before} 0 {self.after}")


def shapes(before: str, after: str) -> Iterator[Shape]:
    """Of all lines in which two texts differ by a value."""
    ours, theirs = units(before), units(after)
    one, other = [unit.text for unit in ours], [unit.text for unit in theirs]
    for tag, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "replace" and j - i == m - k:
            for left, right in zip(one[i:j], other[k:m], strict=True):
                shape = _shape(left, right)
                if shape is not None:
                    yield shape


def _shape(one: str, other: str) -> Shape | None:
    at = common_prefix(one, other)
    left, right = value_at(one, at), value_at(other, at)
    if left is not None and right is not None and left.cause == right.cause:
        begin = min(left.begin, right.begin)
        behind = min(len(one) - left.end, len(other) - right.end)
        known = True
    else:
        begin, behind, known = at, common_suffix(one, other, at), False
        while begin and _WORD.match(one[begin - 1]):
            begin -= 1
        while behind and _WORD.match(one[len(one) - behind]):
            behind -= 1
    begin = common_prefix(one[:begin], other[:begin])
    head, tail = one[:begin], one[len(one) - behind :] if behind else ""
    if not other.endswith(tail) or len(head) + len(tail) > AROUND:
        return None
    if not known and not _SAYS.search(head + tail):
        return None
    return Shape(head, tail, known)


class Later:
    """Lines with values of now go to the end of the system prompt, or of the last message."""

    causes = VALUES

    def __init__(self, known: Sequence[Shape], to: Literal["system", "question"]) -> None:
        """Only shapes that don't instruct."""
        self._known = known
        self._to = to
        self.name = (
            "lines with changing values moved to the end of the system prompt"
            if to == "system"
            else "lines with changing values moved to the end of the last message"
        )

    def begin(self) -> None:
        """Nothing is remembered."""

    def apply(self, draft: Draft) -> bool:
        """One paragraph of all lines that are moved, in their order."""
        if not draft.system() or draft.question() is None:
            return False
        taken = [*self._from_tools(draft), *self._from_system(draft)]
        if not taken:
            return False
        draft.reread()
        system = draft.system()
        place = system[-1] if self._to == "system" else draft.question()
        assert place is not None
        draft.append(place, "\n".join(taken))
        return True

    def _from_tools(self, draft: Draft) -> Iterator[str]:
        for piece in draft.asked.pieces:
            if piece.kind == "tool":
                for address, text in _descriptions(draft.at(piece.address), piece.address):
                    left, taken = self._parted(text)
                    if taken and left.strip():
                        draft.put(address, left)
                        yield from taken

    def _from_system(self, draft: Draft) -> Iterator[str]:
        for piece in draft.system():
            left, taken = self._parted(piece.text)
            if taken and left.strip():
                draft.say(piece, left)
                yield from taken

    def _parted(self, text: str) -> tuple[str, list[str]]:
        parts = units(text)
        gone = [any(shape.fits(unit.text) for shape in self._known) for unit in parts]
        if not any(gone):
            return text, []
        taken = [unit.text for unit, each in zip(parts, gone, strict=True) if each]
        return without(parts, gone).removesuffix("" if gone[-1] is False else " "), taken


def _descriptions(tool: Any, address: Address) -> Iterator[tuple[Address, str]]:
    for steps in ((), ("function",)):
        owner = tool
        for step in steps:
            owner = fields(owner).get(step)
        said = fields(owner).get("description")
        if isinstance(said, str):
            yield (*address, *steps, "description"), said
