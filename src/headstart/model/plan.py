"""Which query rows read which part of the pool in one step. Pure; the same for every layer.

A sequence's context lies in a few runs of neighbouring blocks; each is one view of the pool, read
by an unmasked attention, nothing copied. A `Segment` is what some rows have in common: sequences
that share leading blocks share a segment, so a common prefix is read once per step for all of them.
Results of runs and segments are merged by their log-sum-exp (flash-decoding, cascade attention).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHORT_RUN = 64
"""Tokens. Shorter runs are packed together by a copy: a call of their own would cost more."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One sequence's part in a step: rows `first` to `first + count`, at positions from `start` on.

    `blocks` covers positions 0 to `start + count`.
    """

    first: int
    count: int
    start: int
    blocks: Sequence[int]

    @property
    def context(self) -> int:
        """Tokens read from the pool without a mask: what lies before, and a lone token itself."""
        return self.start + 1 if self.count == 1 else self.start


@dataclass(frozen=True, slots=True)
class Run:
    """`length` neighbouring slots from `slot` on."""

    slot: int
    length: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Every row in `rows` (ascending) attends to all slots of all runs."""

    rows: tuple[int, ...]
    runs: tuple[Run, ...]
    """Each read in place."""
    packed: tuple[Run, ...] = ()
    """Copied together first, then read as one."""


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """A step's attention: per row its segments in order, then the causal part among new tokens."""

    segments: tuple[Segment, ...]
    causal: tuple[tuple[int, int], ...]
    """(first row, rows) of every sequence with more than one new token."""


def plan_attention(
    sequences: Sequence[Rows], block_size: int, *, whole: bool = False
) -> AttentionPlan:
    """The plan of a step.

    `whole`: one segment per sequence whatever the placement of its blocks, so that the result does
    not depend on it (deterministic mode).
    """
    members = [_Member(rows, np.asarray(rows.blocks, dtype=np.int64)) for rows in sequences]
    segments: list[Segment] = []
    if whole:
        for member in members:
            runs = _runs(member.table, 0, member.rows.context, block_size)
            rows = _row_numbers([member])
            if len(runs) == 1:
                segments.append(Segment(rows, tuple(runs)))
            elif runs:
                segments.append(Segment(rows, (), packed=tuple(runs)))
    else:
        _add_segments(segments, members, 0, block_size)
    causal = tuple((rows.first, rows.count) for rows in sequences if rows.count > 1)
    return AttentionPlan(tuple(segments), causal)


@dataclass(frozen=True, slots=True)
class _Member:
    rows: Rows
    table: "np.ndarray[tuple[int], np.dtype[np.int64]]"


def _add_segments(
    out: list[Segment], members: Sequence[_Member], start: int, block_size: int
) -> None:
    """Cover the context from block `start` on: what members share together, the rest apart."""
    groups: dict[int, list[_Member]] = {}
    for member in members:
        if start * block_size < member.rows.context:
            groups.setdefault(int(member.table[start]), []).append(member)
    for group in groups.values():
        if len(group) == 1:
            tokens = group[0].rows.context
        else:
            tokens = _shared_blocks(group, start, block_size) * block_size
            if tokens <= start * block_size:
                for member in group:
                    _append(out, [member], start * block_size, member.rows.context, block_size)
                continue
        _append(out, group, start * block_size, tokens, block_size)
        if len(group) > 1:
            _add_segments(out, group, tokens // block_size, block_size)


def _shared_blocks(group: Sequence[_Member], start: int, block_size: int) -> int:
    """How many leading full blocks all members have in common, given that they agree before."""
    shared = min(member.rows.context // block_size for member in group)
    first = group[0].table
    for member in group[1:]:
        differs = np.flatnonzero(first[start:shared] != member.table[start:shared])
        if differs.size:
            shared = start + int(differs[0])
    return shared


def _append(
    out: list[Segment], group: Sequence[_Member], begin: int, end: int, block_size: int
) -> None:
    runs = _runs(group[0].table, begin, end, block_size)
    long = tuple(run for run in runs if run.length >= SHORT_RUN)
    short = tuple(run for run in runs if run.length < SHORT_RUN)
    if len(short) == 1:
        long, short = long + short, ()
    out.append(Segment(_row_numbers(group), long, packed=short))


def _row_numbers(group: Sequence[_Member]) -> tuple[int, ...]:
    return tuple(
        row
        for member in group
        for row in range(member.rows.first, member.rows.first + member.rows.count)
    )


def _runs(
    table: "np.ndarray[tuple[int], np.dtype[np.int64]]", begin: int, end: int, block_size: int
) -> list[Run]:
    """The runs that hold tokens `begin` (on a block border) to `end`."""
    if end <= begin:
        return []
    blocks = table[begin // block_size : -(-end // block_size)]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(blocks) != 1) + 1))
    lengths = np.diff(np.append(starts, len(blocks))) * block_size
    lengths[-1] -= len(blocks) * block_size - (end - begin)
    return [
        Run(int(blocks[start]) * block_size, int(length))
        for start, length in zip(starts, lengths, strict=True)
    ]
