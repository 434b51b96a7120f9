"""The lines of a `kvt` recording: conversations, and their blocks as runs of ids.

An id names a block and all that stands before it. Conversations have no common clock. Format: the
README beside the traces.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from headstart.insight.replay.lines import TraceError, decoded
from headstart.insight.replay.request import MOST_IDS, Count, Moment, Request

PAGE = 1 << 16


@dataclass(frozen=True, slots=True)
class Call:
    """One request; `after_s` counts from the conversation's begin."""

    session: str
    """`12`, and `12.3` for its sub-agent."""
    turn: int
    after_s: float
    stop: str | None
    runs: tuple[tuple[int, int], ...]
    prompt_tokens: int
    output_tokens: int

    def at(self, time_s: float, block_tokens: int) -> Request:
        """The request that it is on a common clock."""
        return Request(
            time_s=time_s,
            session=self.session,
            turn=self.turn,
            stop=self.stop,
            blocks=written_out(self.runs),
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            block_tokens=block_tokens,
        )


class _Header(msgspec.Struct):
    kvt: int
    block: int


class _Line(msgspec.Struct):
    s: str
    u: Count
    t: Moment
    i: Count
    o: Count
    r: tuple[tuple[int, int], ...]
    c: str | None = None


def read_header(path: Path, number: int, line: bytes) -> int:
    """Tokens of a block, from the first line. Raises TraceError."""
    header = decoded(path, number, line, _Header)
    if header.kvt != 1 or header.block < 1:
        raise TraceError(f"{path.name}:{number}: not version 1 with a block size")
    return header.block


def read_call(path: Path, number: int, line: bytes, block_tokens: int) -> Call:
    """Any other line. Raises TraceError."""
    row = decoded(path, number, line, _Line)
    if sum(count for _, count in row.r) > row.i // block_tokens:
        raise TraceError(f"{path.name}:{number}: more blocks than input tokens")
    if any(first < 0 or count < 0 or first + count > MOST_IDS for first, count in row.r):
        raise TraceError(f"{path.name}:{number}: ids are of 32 bits")
    return Call(row.s, row.u, row.t / 1000, row.c or None, row.r, row.i, row.o)


def written_out(runs: Iterable[tuple[int, int]]) -> "array[int]":
    """The ids of runs of (first, count)."""
    blocks = array("I")
    for first, count in runs:
        end = first + count
        while first < end:
            number, at = divmod(first, PAGE)
            stop = min(PAGE, at + end - first)
            blocks += _page(number)[at:stop]
            first += stop - at
    return blocks


@lru_cache(maxsize=64)
def _page(number: int) -> "array[int]":
    """`PAGE` ids in a row: copying a piece of them is faster than counting, and bounded."""
    return array("I", range(number * PAGE, (number + 1) * PAGE))
