"""A recording streams: how much memory it takes doesn't grow with its length."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headstart.insight.replay.capacity import parse_capacity
from headstart.insight.replay.source import Reading, Trace
from headstart.insight.replay.study import Question, study

REQUESTS = 180
SESSIONS = 20
"""Of which a policy remembers the last 65,536: as many in the longer recording."""
CAPACITY = 100
"""Blocks: a fifteenth of what the shorter recording brings."""
CALL_BYTES = 100
"""Of a call without a common clock, whatever its length: its session, turn, time and place in the
file (28), and what sorting them by a drawn time takes besides (64)."""


def blocks(at: int) -> tuple[int, int]:
    """A range of ids: six times more of the same, then anew."""
    talk, turn = divmod(at, 6)
    return 20 + 48 * talk, 8 * (turn + 1)


def kvt(requests: int) -> Iterator[object]:
    """Sessions that begin anew every six turns, behind a system prompt for all."""
    yield {"kvt": 1, "block": 16}
    for at in range(requests):
        first, count = blocks(at)
        yield {"s": str(at // 6 % SESSIONS), "u": at, "t": 900 * at, "i": 16 * (20 + count) + 3,
               "o": 9, "r": [[0, 20], [first, count]]}  # fmt: skip


def mooncake(requests: int) -> Iterator[object]:
    """The same without names."""
    for at in range(requests):
        first, count = blocks(at)
        ids = [*range(20), *range(first, first + count)]
        yield {"timestamp": 900 * at, "input_length": 512 * len(ids), "output_length": 9,
               "hash_ids": ids}  # fmt: skip


def peak(path: Path, rows: Iterator[object], policy: str) -> tuple[int, int]:
    """Bytes that reading and replaying it took at most; bytes of the recording, unpacked."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        size = sum(file.write(json.dumps(row).encode() + b"\n") for row in rows)
    tracemalloc.start()
    try:
        trace = Trace([path], Reading())
        capacity = parse_capacity(str(CAPACITY * trace.block_tokens), None)
        report = study(trace, Question([policy], [capacity], bound=False))
        return tracemalloc.get_traced_memory()[1], size
    finally:
        tracemalloc.stop()
        assert report.points[0].outcome.hit_rate > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "policy", "each"), [(kvt, "worth", CALL_BYTES), (mooncake, "lru", 0)]
)
def test_ten_times_the_recording_takes_no_more_memory(
    tmp_path: Path, rows: Callable[[int], Iterator[object]], policy: str, each: int
) -> None:
    peak(tmp_path / "t.gz", rows(60), policy)  # Imports, and what is kept once for all.
    short, size = peak(tmp_path / "t.gz", rows(REQUESTS), policy)
    long, size_of_long = peak(tmp_path / "t.gz", rows(10 * REQUESTS), policy)
    assert size_of_long > 9.5 * size
    assert long < 1.5 * short + each * 9 * REQUESTS
