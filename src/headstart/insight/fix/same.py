"""What means the same, said with the same bytes: those with which it was said first."""

import json
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b

from headstart.contracts.prompt import Kind
from headstart.insight.causes import Cause
from headstart.insight.fix.draft import Draft
from headstart.insight.lint.looks import INVISIBLE

MOST_TEXTS = 4096
MOST_CHARACTERS = 1 << 23
"""Of remembered texts, all together."""
_JOINERS = "\u200c\u200d\u200e\u200f"
"""Letters and emoji are made with these."""
_JSON = json.JSONDecoder()


def lines(text: str) -> str:
    """With LF at the ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def composed(text: str) -> str:
    """In NFC."""
    return unicodedata.normalize("NFC", text)


def visible(text: str) -> str:
    """Without characters that can't be seen and make no letter."""
    return INVISIBLE.sub(lambda found: found.group() if found.group() in _JOINERS else "", text)


def spaced(text: str) -> str:
    """With one space between words and no blank lines; a line's indent stays, it may be code."""
    found = []
    for line in lines(text).split("\n"):
        bare = line.strip()
        if bare:
            indent = line[: len(line) - len(line.lstrip())]
            found.append(indent + re.sub(r"[^\S\n]+", " ", bare))
    return "\n".join(found)


def json_sorted(text: str) -> str:
    """With the keys of whole JSON values in it sorted, and all else as it was."""
    said, begin = [], 0
    for found in re.finditer(r"[\[{]", text):
        if found.start() < begin:
            continue
        try:
            value, end = _JSON.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        said += [text[begin : found.start()], json.dumps(value, ensure_ascii=False, sort_keys=True)]
        begin = end
    return "".join([*said, text[begin:]])


FORMS: Mapping[Cause, Callable[[str], str]] = {
    Cause.LINE_ENDS: lines,
    Cause.UNICODE_FORM: composed,
    Cause.INVISIBLE: visible,
    Cause.WHITESPACE: spaced,
    Cause.JSON_ORDER: json_sorted,
}
CLEAN = (Cause.LINE_ENDS, Cause.UNICODE_FORM, Cause.INVISIBLE)
"""Whose form is one to send; of the others the first that was sent is taken."""
NAMES: Mapping[Cause, str] = {
    Cause.LINE_ENDS: "line ends made LF",
    Cause.UNICODE_FORM: "Unicode brought into NFC",
    Cause.INVISIBLE: "invisible characters removed",
    Cause.WHITESPACE: "white space made as it was first",
    Cause.JSON_ORDER: "JSON in texts made as it was first",
}


class AsFirst:
    """Texts that differ in one way alone become equal, in kinds of pieces where it was seen."""

    def __init__(self, cause: Cause, kinds: frozenset[Kind]) -> None:
        self.name = NAMES[cause]
        self.causes = frozenset((cause,))
        self._form = FORMS[cause]
        self._clean = cause in CLEAN
        self._kinds = kinds
        self.begin()

    def begin(self) -> None:
        """Forgets all texts."""
        self._first: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        self._size = 0

    def apply(self, draft: Draft) -> bool:
        """All texts of these kinds; of the conversation only such as were said before."""
        changed = False
        for piece in draft.asked.pieces:
            if piece.kind in self._kinds and draft.is_text(piece):
                new = self._said(piece.kind, piece.text)
                if new != piece.text:
                    draft.say(piece, new)
                    changed = True
        return changed

    def _said(self, kind: Kind, text: str) -> str:
        form = self._form(text)
        if self._clean and kind in ("system", "developer", "tool"):
            return form
        key = kind, blake2b(form.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first = self._first.get(key)
        if first is not None:
            self._first.move_to_end(key)
            return first
        self._first[key] = text
        self._size += len(text)
        while len(self._first) > MOST_TEXTS or self._size > MOST_CHARACTERS:
            self._size -= len(self._first.popitem(last=False)[1])
        return text
