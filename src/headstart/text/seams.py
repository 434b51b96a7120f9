"""Seams: places where a text may be cut, so that the ids of its two parts are the ids of the whole.

Two kinds are used, and both are proved, not guessed: before an added token (`text/hard_seams.py`),
and, with tokenizers whose parts are all known, inside ordinary text (`text/soft_seams.py`).
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from tokenizers import Tokenizer
from tokenizers.models import BPE

from headstart.text.hard_seams import hard_tokens
from headstart.text.soft_seams import SOFT_PLACE, allows_soft_seams

SOFT = -1
"""In place of the added token's id, for a soft seam."""
_HARD_SPACING, _SOFT_SPACING = 64, 512
"""Seams closer than this (characters) are not worth their memory."""
_NOWHERE = re.compile(r"(?!)")


class Encoded(Protocol):
    """What a tokenizer gives for a text."""

    @property
    def ids(self) -> list[int]:
        """Token ids."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """For each token the characters it stands for, as (start, end)."""
        ...


@dataclass(frozen=True, slots=True)
class Seam:
    """One seam of a text."""

    start: int
    """Where the text is cut, in characters."""
    reach: int
    """Another text with the same first `reach` characters has this seam too."""
    token: int
    """How many ids lie before it."""
    mark: int
    """Id of the added token that begins here, or `SOFT`."""


class Seams:
    """The seams of one text, in order. Four arrays, for a long text has thousands. Never changed
    once it is shared."""

    __slots__ = ("_marks", "_reaches", "_starts", "_tokens")

    def __init__(self) -> None:
        self._starts, self._reaches, self._tokens = array("Q"), array("Q"), array("Q")
        self._marks = array("q")

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> Seam:
        return Seam(
            self._starts[index], self._reaches[index], self._tokens[index], self._marks[index]
        )

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return 32 * len(self)

    def append(self, seam: Seam) -> None:
        """Add the next one."""
        self._starts.append(seam.start)
        self._reaches.append(seam.reach)
        self._tokens.append(seam.token)
        self._marks.append(seam.mark)

    def within(self, shared: int) -> int:
        """How many of the seams a text has that shares its first `shared` characters."""
        return bisect_right(self._reaches, shared)

    def around(self, place: int) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """The last seam at or before character `place` and the first one behind it.

        Of each the characters and the tokens before it.
        """
        index = bisect_right(self._starts, place)
        return self._cut(index - 1), self._cut(index)

    def _cut(self, index: int) -> tuple[int, int] | None:
        if not 0 <= index < len(self):
            return None
        return self._starts[index], self._tokens[index]

    def first(self, count: int) -> Self:
        """A copy of the first `count`."""
        part = type(self)()
        part._starts, part._reaches = self._starts[:count], self._reaches[:count]
        part._tokens, part._marks = self._tokens[:count], self._marks[:count]
        return part


class SeamRules:
    """Where the texts of one tokenizer have seams."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        model = tokenizer.model
        draws_lots = isinstance(model, BPE) and bool(model.dropout)
        added = tokenizer.get_added_tokens_decoder()
        self.repeatable = not draws_lots
        """Whether the same text always has the same ids: not with BPE dropout."""
        self._ids: Mapping[str, int] = {} if draws_lots else hard_tokens(added)
        self._hard = re.compile("|".join(map(re.escape, self._ids))) if self._ids else _NOWHERE
        self._soft = SOFT_PLACE if allows_soft_seams(tokenizer) else _NOWHERE

    @property
    def longest(self) -> int:
        """Length of the longest hard seam's token, in characters."""
        return max(map(len, self._ids), default=0)

    def hard_places(self, text: str, start: int) -> list[int]:
        """Where hard seams lie, from `start` on."""
        return [match.start() for match in self._hard.finditer(text, start)]

    def hard_id(self, text: str, position: int) -> int | None:
        """Id of the added token that makes `position` a hard seam; None where it is none."""
        match = self._hard.match(text, position)
        return None if match is None else self._ids[match.group()]

    def find(
        self, text: str, start: int, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
    ) -> Iterator[Seam]:
        """Seams of `text` from `start` on; `ids` and `offsets` are those of `text[start:]`.

        `token` counts from `start`. A place whose token isn't where it should be is left out.
        """
        for place, reach, mark in self._places(text, start):
            index = token_at(offsets, place - start)
            if index == len(ids) or offsets[index][0] < place - start:
                continue
            if mark in (SOFT, ids[index]):
                yield Seam(place, reach, index, mark)

    def _places(self, text: str, start: int) -> Iterator[tuple[int, int, int]]:
        last = start - _HARD_SPACING
        for match in self._hard.finditer(text, start):
            place = match.start()
            yield from self._soft_places(text, max(last, start), place)
            if place - last >= _HARD_SPACING:
                yield place, match.end(), self._ids[match.group()]
                last = place
        yield from self._soft_places(text, max(last, start), len(text))

    def _soft_places(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        while match := self._soft.search(text, start + _SOFT_SPACING, end):
            yield match.start(), match.end(), SOFT
            start = match.start()


def token_at(offsets: Sequence[tuple[int, int]], position: int) -> int:
    """Index of the first token that ends behind `position` (in characters)."""
    return bisect_right(offsets, position, key=_end)


def _end(span: tuple[int, int]) -> int:
    return span[1]
