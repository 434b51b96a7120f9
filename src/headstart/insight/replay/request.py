"""One request of a recording, as the cache sees it."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec

MOST_IDS = 1 << 32
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_IDS)]
"""In a line of a recording."""
LONGEST_TIME = 1e15
Moment = Annotated[float, msgspec.Meta(ge=-LONGEST_TIME, le=LONGEST_TIME)]
"""Seconds or milliseconds there: thirty thousand years are a mistake."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt. `blocks` are ids from the root; the last one may be part full (Mooncake).

    In a recording of token ids a block is one token.
    """

    time_s: float
    session: str | None
    turn: int | None
    stop: str | None
    blocks: Sequence[int]
    prompt_tokens: int
    output_tokens: int
    block_tokens: int
    answer: Sequence[int] = ()
    """What came after the prompt and can be found as well, where that is recorded."""
    space: str = ""
    """Requests of different spaces (tenants, salts, adapters) share nothing."""
    ended: bool = False
    """The client said that nothing of the session would follow."""
    expected_gap: float | None = None
    """Seconds until its next request, as the client said."""

    def prefix_tokens(self, blocks: int) -> int:
        """Prompt tokens in the first `blocks` blocks."""
        return min(blocks * self.block_tokens, self.prompt_tokens)


def coarsened(requests: Iterable[Request], fold: int) -> Iterator[Request]:
    """The same requests in blocks `fold` times as large; a rest shorter than a block is dropped.

    Their ids have to name prefixes.
    """
    for request in requests:
        yield replace(
            request,
            blocks=request.blocks[fold - 1 :: fold],
            block_tokens=request.block_tokens * fold,
        )


class Ids:
    """Ids in the 32 bits of the cache's tokens. A recording whose first ones don't fit (64-bit
    hashes) has all of them numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] | None = None
        self._begun = False

    def packed(self, ids: Sequence[int]) -> "array[int]":
        """Raises OverflowError for a large id in a recording that began with small ones."""
        if self._numbers is None:
            try:
                blocks = array("I", ids)
            except OverflowError:
                if self._begun:
                    raise
                self._numbers = {}
            else:
                self._begun = self._begun or bool(ids)
                return blocks
        numbers = self._numbers
        return array("I", (numbers.setdefault(each, len(numbers)) for each in ids))


ROOT, SPACES = -1, -2
"""Below which first blocks stand, and below which the roots of all spaces but the first."""


class Names:
    """Names blocks by the whole prefix that ends in them, where a recording doesn't.

    `size`: recorded blocks (or tokens) that make one block. Keeps an entry for every prefix.
    """

    def __init__(self, size: int = 1) -> None:
        self._size = size
        self._known: dict[tuple[int, bytes], int] = {}

    def named(self, request: Request) -> Request:
        """The same request in blocks of the size. Of the prompt only what can be reused counts:
        where blocks are tokens, all but the last; the rest is found by those who come after."""
        path = array("I", request.blocks)
        reusable = len(path) - (1 if request.block_tokens == 1 else 0)
        path.extend(request.answer)
        data, width = path.tobytes(), self._size * path.itemsize
        ids, parent, known = array("I"), ROOT, self._known
        if request.space:
            parent = known.setdefault((SPACES, request.space.encode()), len(known))
        for at in range(0, len(data) - width + 1, width):
            key = parent, data[at : at + width]
            parent = known.setdefault(key, len(known))
            ids.append(parent)
        full = max(0, reusable) // self._size
        return replace(
            request,
            blocks=ids[:full],
            answer=ids[full:],
            block_tokens=request.block_tokens * self._size,
        )
