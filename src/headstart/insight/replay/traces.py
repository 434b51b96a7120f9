"""Recorded request streams: whose request, when, and which blocks its prompt is made of.

A block id names the whole prefix that ends in it, so two prompts share exactly the ids they have in
common, and k-fold blocks are every k-th id. Two formats: Mooncake's JSON lines and `kvt`
(see the README beside the traces). Neither holds text.
"""

import gzip
import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from typing import TypeVar

import msgspec

Line = TypeVar("Line")


class TraceError(ValueError):
    """A recording that cannot be read; names the file and the line."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt. `blocks` are ids from the root; the last one may be part full (Mooncake)."""

    time_s: float
    session: str | None
    turn: int | None
    stop: str | None
    blocks: Sequence[int]
    prompt_tokens: int
    output_tokens: int
    block_tokens: int

    def prefix_tokens(self, blocks: int) -> int:
        """Prompt tokens in the first `blocks` blocks."""
        return min(blocks * self.block_tokens, self.prompt_tokens)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a `kvt` recording; `after_s` counts from the conversation's begin."""

    session: str
    turn: int
    after_s: float
    stop: str | None
    runs: tuple[tuple[int, int], ...]
    prompt_tokens: int
    output_tokens: int

    @property
    def conversation(self) -> str:
        """The conversation that a session belongs to: `12` for the sub-agent `12.3`."""
        return self.session.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Recording:
    """A `kvt` file: conversations without a common clock. A clock below makes a stream of it."""

    block_tokens: int
    calls: tuple[Call, ...]

    def sample(self, conversations: int, *, seed: int) -> "Recording":
        """The calls of some conversations drawn at random, in their order."""
        names = sorted({call.conversation for call in self.calls})
        kept = set(random.Random(seed).sample(names, min(conversations, len(names))))
        return replace(self, calls=tuple(c for c in self.calls if c.conversation in kept))


class _MooncakeLine(msgspec.Struct):
    timestamp: float
    input_length: int
    output_length: int
    hash_ids: list[int]


class _KvtHeader(msgspec.Struct):
    kvt: int
    block: int


class _KvtLine(msgspec.Struct):
    s: str
    u: int
    t: float
    i: int
    o: int
    r: tuple[tuple[int, int], ...]
    c: str | None = None


def read_mooncake(path: Path, *, block_tokens: int = 512) -> Iterator[Request]:
    """The requests of a Mooncake trace (.jsonl.gz) in its order. Raises TraceError."""
    for number, line in _lines(path):
        row = _decoded(path, number, line, _MooncakeLine)
        if len(row.hash_ids) != -(-row.input_length // block_tokens):
            raise TraceError(f"{path.name}:{number}: hash_ids do not cover input_length")
        yield Request(
            time_s=row.timestamp / 1000,
            session=None,
            turn=None,
            stop=None,
            blocks=array("q", row.hash_ids),
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_tokens=block_tokens,
        )


def read_kvt(path: Path) -> Recording:
    """A `.kvt.gz` recording. Raises TraceError."""
    lines = _lines(path)
    number, line = next(lines, (1, b""))
    header = _decoded(path, number, line, _KvtHeader)
    if header.kvt != 1 or header.block < 1:
        raise TraceError(f"{path.name}:{number}: not version 1 with a block size")
    calls = []
    for number, line in lines:
        row = _decoded(path, number, line, _KvtLine)
        if sum(count for _, count in row.r) > row.i // header.block:
            raise TraceError(f"{path.name}:{number}: more blocks than input tokens")
        calls.append(Call(row.s, row.u, row.t / 1000, row.c or None, row.r, row.i, row.o))
    return Recording(header.block, tuple(calls))


def with_recorded_gaps(recording: Recording, *, span_s: float, seed: int) -> Iterator[Request]:
    """Recorded time within a conversation; conversations begin uniformly over `span_s` seconds."""
    draw = random.Random(seed)
    names = sorted({call.conversation for call in recording.calls})
    begin = {name: draw.uniform(0, span_s) for name in names}
    times = [begin[call.conversation] + call.after_s for call in recording.calls]
    return _stream(recording, times)


def with_drawn_gaps(
    recording: Recording,
    *,
    span_s: float,
    seed: int,
    medians_s: tuple[float, ...] = (6.0, 10.0),
    sigma: float = 0.6,
) -> Iterator[Request]:
    """No recorded time: a gap is a sum of lognormal waits (model, tool), begins are uniform."""
    draw = random.Random(seed)
    calls = tuple(sorted(recording.calls, key=lambda call: (call.session, call.turn)))
    clock: dict[str, float] = {}
    times = []
    for call in calls:
        if call.session in clock:
            gap = sum(exp(draw.gauss(log(median), sigma)) for median in medians_s)
            clock[call.session] += gap
        else:
            clock[call.session] = draw.uniform(0, span_s)
        times.append(clock[call.session])
    return _stream(replace(recording, calls=calls), times)


def coarsened(requests: Iterator[Request], fold: int) -> Iterator[Request]:
    """The same requests in blocks `fold` times as large; a rest shorter than a block is dropped."""
    for request in requests:
        yield replace(
            request,
            blocks=request.blocks[fold - 1 :: fold],
            block_tokens=request.block_tokens * fold,
        )


def _stream(recording: Recording, times: list[float]) -> Iterator[Request]:
    order = sorted(range(len(times)), key=times.__getitem__)
    for index in order:
        call = recording.calls[index]
        blocks = array("q")
        for first, count in call.runs:
            blocks.extend(range(first, first + count))
        yield Request(
            time_s=times[index],
            session=call.session,
            turn=call.turn,
            stop=call.stop,
            blocks=blocks,
            prompt_tokens=call.prompt_tokens,
            output_tokens=call.output_tokens,
            block_tokens=recording.block_tokens,
        )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        with gzip.open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line
    except (OSError, EOFError) as error:
        raise TraceError(f"{path.name}: cannot be read after line {number}: {error}") from error


def _decoded(path: Path, number: int, line: bytes, form: type[Line]) -> Line:
    try:
        return msgspec.json.decode(line, type=form)
    except msgspec.MsgspecError as error:
        raise TraceError(f"{path.name}:{number}: {error}") from error
