"""How two texts that stand in one place differ."""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from headstart.insight.causes import Cause
from headstart.insight.compare.common import common_prefix, common_suffix
from headstart.insight.compare.volatile import value_at

_INVISIBLE = dict.fromkeys(
    [0x00AD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF]
)
_WIDE = str.maketrans("，。；：！？（）［］【】“”‘’、～％　", ",.;:!?()[][]\"\"'',~% ")
_WORD = re.compile(r"[^\s\"'`<>(){}\[\],;，。；：！？]*")
_BOUNDARY = re.compile(
    r"\n(?:\s*\n|(?=#{1,4} ))|<(?=(?:document|doc|source|passage|chunk|context)\b)"
)
"""Each begins with a letter of its own: that is searched for fast."""
_RANDOM = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w+/=.:-]{6,}|[A-Za-z0-9+/=]{16,}")
MOST_OPENINGS = 64
"""Brackets before a difference that are tried as the beginning of a JSON value."""
LONG = 160
"""Characters of a passage; less is an edit."""
PARAGRAPH = 24
"""Characters of a paragraph that is known again in another place."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first stretch in which two texts differ, whole values where they are known."""

    cause: Cause
    at: int
    """Characters in common before the first that differs."""
    before: str
    after: str
    behind: int
    """Characters behind that both have: they would have been read too."""


def difference(before: str, after: str) -> Difference | None:
    """Why the texts differ; None if they don't."""
    if before == after:
        return None
    at = common_prefix(before, after)
    behind = common_suffix(before, after, at)
    cause = _same_but_for(before, after, at)
    if cause is not None:
        # All of it means the same, so all that is left is lost.
        return Difference(cause, at, *_around(before, after, at, behind), len(after) - at)
    stays = behind
    if min(len(before), len(after)) - at - behind >= PARAGRAPH:
        # Less than that has no paragraph that could stand elsewhere.
        reordered = _reordered(before, after)
        if reordered:
            around = _around(before, after, at, behind)
            return Difference(Cause.RETRIEVAL_ORDER, at, *around, max(0, reordered - at))
        stays = max(behind, _common_parts(before[at:], after[at:]))
    one, other = value_at(before, at), value_at(after, at)
    if one is not None and other is not None and one.cause == other.cause:
        return Difference(one.cause, at, one.of(before), other.of(after), stays)
    around = _around(before, after, at, behind)
    return Difference(_by_words(*around, stays), at, *around, stays)


def _same_but_for(before: str, after: str, at: int) -> Cause | None:
    """What makes the difference, where both texts mean the same."""
    here = before[at : at + 1] + after[at : at + 1]
    spaced = len(here) < 2 or here[0].isspace() or here[1].isspace()
    if spaced and _lines(before) == _lines(after):
        return Cause.LINE_ENDS
    plain = before.isascii() and after.isascii()
    if not plain:
        if unicodedata.normalize("NFC", before) == unicodedata.normalize("NFC", after):
            return Cause.UNICODE_FORM
        if before.translate(_INVISIBLE) == after.translate(_INVISIBLE):
            return Cause.INVISIBLE
    if spaced and "".join(before.split()) == "".join(after.split()):
        return Cause.WHITESPACE
    if not plain and _narrow(before) == _narrow(after):
        return Cause.WIDTH
    return Cause.JSON_ORDER if _same_json(before, after, at) else None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _narrow(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_WIDE)).replace(" ", "")


def _same_json(before: str, after: str, at: int) -> bool:
    """Whether the difference lies in a JSON value that is the same in both."""
    begin = at
    for _ in range(MOST_OPENINGS):
        begin = max(before.rfind("{", 0, begin), before.rfind("[", 0, begin))
        if begin < 0:
            return False
        try:
            one, end = _JSON.raw_decode(before, begin)
            other, stop = _JSON.raw_decode(after, begin)
        except (ValueError, RecursionError):
            continue
        if end > at and isinstance(one, dict | list):
            same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
            if same and before[end:] == after[stop:]:
                return True
    return False


_JSON = json.JSONDecoder()


def _reordered(before: str, after: str) -> int:
    """Characters of paragraphs, or of lines, that stand in both and in another order."""
    for split in (_pieces, str.splitlines):
        one, other = (
            [part for each in split(text) if len(part := each.strip()) >= PARAGRAPH]
            for text in (before, after)
        )
        common = _once(one) & _once(other)
        there = [part for part in one if part in common]
        here = [part for part in other if part in common]
        if there != here and 2 * sum(map(len, here)) > len(after):
            return sum(map(len, here))
    return 0


def _common_parts(before: str, after: str) -> int:
    """Characters of paragraphs that both have."""
    there = set(map(str.strip, _pieces(before)))
    parts = (part.strip() for part in _pieces(after))
    return sum(len(part) for part in parts if len(part) >= PARAGRAPH and part in there)


def _pieces(text: str) -> list[str]:
    """Paragraphs, documents and what stands under headings."""
    parts, begin = [], 0
    for found in _BOUNDARY.finditer(text):
        parts.append(text[begin : found.start()])
        begin = found.start() if text[found.start()] == "<" else found.end()
    return [*parts, text[begin:]]


def _once(parts: list[str]) -> set[str]:
    return {part for part, times in Counter(parts).items() if times == 1}


def _around(before: str, after: str, at: int, behind: int) -> tuple[str, str]:
    """What differs, with the words it begins and ends in."""
    begin = at
    while begin > 0 and at - begin < 40 and _WORD.fullmatch(before[begin - 1]):
        begin -= 1
    return (
        before[begin : _word_end(before, len(before) - behind)],
        after[begin : _word_end(after, len(after) - behind)],
    )


def _word_end(text: str, end: int) -> int:
    found = _WORD.match(text, end, min(len(text), end + 40))
    return end if found is None else found.end()


def _by_words(before: str, after: str, behind: int) -> Cause:
    one, other = (text.strip(" \t.:#()[]\"'") for text in (before, after))
    if one.isdecimal() and other.isdecimal():
        near = abs(int(one) - int(other)) <= max(100, int(one) // 10)
        return Cause.COUNTER if near and len(one) < 10 else Cause.NONCE
    if one and other and _RANDOM.fullmatch(one) and _RANDOM.fullmatch(other):
        return Cause.IDENTIFIER
    if min(len(one), len(other)) >= LONG and behind >= LONG:
        return Cause.RETRIEVAL
    return Cause.WORDING
