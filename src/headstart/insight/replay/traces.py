"""Recorded request streams: whose request, when, and which blocks its prompt is made of.

A block id names the whole prefix that ends in it, so two prompts share exactly the ids they have in
common, and k-fold blocks are every k-th id. Two formats: Mooncake's JSON lines and `kvt`
(see the README beside the traces). Neither holds text.
"""

import random
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log
from pathlib import Path
from typing import Annotated

import msgspec

from headstart.insight.replay.lines import Lines, Moved, TraceError, decoded, nobody
from headstart.insight.replay.request import Ids, Request

__all__ = [
    "Call",
    "Recording",
    "Request",
    "TraceError",
    "coarsened",
    "read_bailian",
    "read_kvt",
    "read_mooncake",
    "with_drawn_gaps",
    "with_recorded_gaps",
]

PAGE = 1 << 16
MOST_IDS = 1 << 32
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_IDS)]
MOST_CHATS = 1 << 20
"""Whose continuation is still recognised."""


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
    input_length: Count
    output_length: Count
    hash_ids: list[int]


class _KvtHeader(msgspec.Struct):
    kvt: int
    block: int


class _KvtLine(msgspec.Struct):
    s: str
    u: Count
    t: float
    i: Count
    o: Count
    r: tuple[tuple[int, int], ...]
    c: str | None = None


class _BailianLine(msgspec.Struct):
    chat_id: int
    parent_chat_id: int
    timestamp: float
    input_length: Count
    output_length: Count
    turn: int
    hash_ids: list[int]


def read_mooncake(
    path: Path, *, block_tokens: int = 512, moved: Moved = nobody
) -> Iterator[Request]:
    """The requests of a Mooncake trace (.jsonl, .gz) in its order. Raises TraceError."""
    ids = Ids()
    for number, line in Lines(path, moved):
        row = decoded(path, number, line, _MooncakeLine)
        yield Request(
            time_s=row.timestamp / 1000,
            session=None,
            turn=None,
            stop=None,
            blocks=_covering(path, number, row, block_tokens, ids),
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_tokens=block_tokens,
        )


def read_bailian(path: Path, *, block_tokens: int = 16, moved: Moved = nobody) -> Iterator[Request]:
    """The requests of a Qwen-Bailian trace in its order. Raises TraceError.

    Its ids name a block by its content alone. A session is a chat and those that go on from it.
    """
    ids = Ids()
    sessions: dict[int, str] = {}
    for number, line in Lines(path, moved):
        row = decoded(path, number, line, _BailianLine)
        session = sessions.get(row.parent_chat_id) or str(row.chat_id)
        sessions[row.chat_id] = session
        if len(sessions) > MOST_CHATS:
            del sessions[next(iter(sessions))]
        yield Request(
            time_s=row.timestamp,
            session=session,
            turn=row.turn,
            stop=None,
            blocks=_covering(path, number, row, block_tokens, ids),
            prompt_tokens=row.input_length,
            output_tokens=row.output_length,
            block_tokens=block_tokens,
        )


def _covering(
    path: Path, number: int, row: _MooncakeLine | _BailianLine, block_tokens: int, ids: Ids
) -> "array[int]":
    if len(row.hash_ids) != -(-row.input_length // block_tokens):
        raise TraceError(
            f"{path.name}:{number}: hash_ids do not cover input_length in blocks of {block_tokens}"
        )
    try:
        return ids.packed(row.hash_ids)
    except OverflowError:
        raise TraceError(
            f"{path.name}:{number}: ids of 32 bits and larger ones are mixed"
        ) from None


def read_kvt(path: Path, *, moved: Moved = nobody) -> Recording:
    """A `.kvt.gz` recording. Raises TraceError."""
    lines = iter(Lines(path, moved))
    number, line = next(lines, (1, b""))
    block = read_header(path, number, line)
    calls = (read_call(path, number, line, block) for number, line in lines)
    return Recording(block, tuple(calls))


def read_header(path: Path, number: int, line: bytes) -> int:
    """Tokens of a block, from the first line of a `kvt` recording. Raises TraceError."""
    header = decoded(path, number, line, _KvtHeader)
    if header.kvt != 1 or header.block < 1:
        raise TraceError(f"{path.name}:{number}: not version 1 with a block size")
    return header.block


def read_call(path: Path, number: int, line: bytes, block_tokens: int) -> Call:
    """Any other line of it. Raises TraceError."""
    row = decoded(path, number, line, _KvtLine)
    if sum(count for _, count in row.r) > row.i // block_tokens:
        raise TraceError(f"{path.name}:{number}: more blocks than input tokens")
    if any(first < 0 or count < 0 or first + count > MOST_IDS for first, count in row.r):
        raise TraceError(f"{path.name}:{number}: ids are of 32 bits")
    return Call(row.s, row.u, row.t / 1000, row.c or None, row.r, row.i, row.o)


def with_recorded_gaps(recording: Recording, *, span_s: float, seed: int) -> Iterator[Request]:
    """Recorded time within a conversation; conversations begin uniformly over `span_s` seconds."""
    calls = recording.calls
    begins = drawn_begins((call.conversation for call in calls), span_s=span_s, seed=seed)
    return _stream(recording, [begins[call.conversation] + call.after_s for call in calls])


def with_drawn_gaps(
    recording: Recording,
    *,
    span_s: float,
    seed: int,
    medians_s: tuple[float, ...] = (6.0, 10.0),
    sigma: float = 0.6,
) -> Iterator[Request]:
    """No recorded time: a gap is a sum of lognormal waits (model, tool), begins are uniform."""
    calls = tuple(sorted(recording.calls, key=lambda call: (call.session, call.turn)))
    times = drawn_times(
        (call.session for call in calls), span_s, seed=seed, medians_s=medians_s, sigma=sigma
    )
    return _stream(replace(recording, calls=calls), list(times))


def drawn_begins(conversations: Iterable[str], *, span_s: float, seed: int) -> dict[str, float]:
    """When each conversation begins: uniform over `span_s` seconds."""
    draw = random.Random(seed)
    return {name: draw.uniform(0, span_s) for name in sorted(set(conversations))}


def drawn_times(
    sessions: Iterable[str],
    span_s: float,
    *,
    seed: int,
    medians_s: tuple[float, ...] = (6.0, 10.0),
    sigma: float = 0.6,
) -> Iterator[float]:
    """A time for each call, given whose it is; the calls of a session come in their order."""
    draw = random.Random(seed)
    clock: dict[str, float] = {}
    for session in sessions:
        if session in clock:
            clock[session] += sum(exp(draw.gauss(log(median), sigma)) for median in medians_s)
        else:
            clock[session] = draw.uniform(0, span_s)
        yield clock[session]


def coarsened(requests: Iterator[Request], fold: int) -> Iterator[Request]:
    """The same requests in blocks `fold` times as large; a rest shorter than a block is dropped."""
    for request in requests:
        yield replace(
            request,
            blocks=request.blocks[fold - 1 :: fold],
            block_tokens=request.block_tokens * fold,
        )


def _stream(recording: Recording, times: list[float]) -> Iterator[Request]:
    for index in sorted(range(len(times)), key=times.__getitem__):
        yield recording.calls[index].at(times[index], recording.block_tokens)


@lru_cache(maxsize=64)
def _page(number: int) -> "array[int]":
    """`PAGE` ids in a row: copying a piece of them is faster than counting, and bounded."""
    return array("I", range(number * PAGE, (number + 1) * PAGE))


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
