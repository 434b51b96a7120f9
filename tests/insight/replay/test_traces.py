import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from headstart.insight.replay.traces import (
    Recording,
    TraceError,
    coarsened,
    read_kvt,
    read_mooncake,
    with_drawn_gaps,
    with_recorded_gaps,
)

HEADER = {"kvt": 1, "block": 16}


def written(path: Path, rows: Iterable[object]) -> Path:
    path.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    return path


def call(session: str, turn: int, ms: int, runs: list[list[int]]) -> dict[str, object]:
    tokens = 16 * sum(count for _, count in runs) + 5
    return {"s": session, "u": turn, "t": ms, "i": tokens, "o": 7, "c": "end_turn", "r": runs}


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    rows = [
        HEADER,
        call("0", 0, 0, [[0, 3]]),
        call("0", 1, 2000, [[0, 3], [9, 2]]),
        call("0.1", 0, 1000, [[20, 1]]),
        call("1", 0, 0, [[0, 1]]),
        call("1", 1, 500, [[0, 1], [30, 4]]),
    ]
    return read_kvt(written(tmp_path / "t.kvt.gz", rows))


def test_mooncake_lines_become_requests_with_a_part_full_last_block(tmp_path: Path) -> None:
    line = {"timestamp": 1500, "input_length": 700, "output_length": 9, "hash_ids": [4, 8]}
    (request,) = read_mooncake(written(tmp_path / "m.gz", [line]))
    assert (request.time_s, list(request.blocks), request.output_tokens) == (1.5, [4, 8], 9)
    assert [request.prefix_tokens(n) for n in range(3)] == [0, 512, 700]


def test_runs_of_block_ids_are_written_out(recording: Recording) -> None:
    requests = list(with_recorded_gaps(recording, span_s=0.0, seed=1))
    second = next(r for r in requests if (r.session, r.turn) == ("0", 1))
    assert list(second.blocks) == [0, 1, 2, 9, 10]
    assert (second.stop, second.block_tokens, second.prompt_tokens) == ("end_turn", 16, 85)


def test_recorded_gaps_are_kept_and_a_subagent_shares_its_parents_begin(
    recording: Recording,
) -> None:
    requests = list(with_recorded_gaps(recording, span_s=1e6, seed=3))
    at = {(r.session, r.turn): r.time_s for r in requests}
    assert at["0", 1] - at["0", 0] == pytest.approx(2.0)
    assert at["0.1", 0] - at["0", 0] == pytest.approx(1.0)
    assert abs(at["1", 0] - at["0", 0]) > 1000
    assert [r.time_s for r in requests] == sorted(at.values())


def test_the_same_seed_gives_the_same_clock_and_another_one_does_not(recording: Recording) -> None:
    for clock in (with_recorded_gaps, with_drawn_gaps):
        times = [[r.time_s for r in clock(recording, span_s=99.0, seed=s)] for s in (5, 5, 6)]
        assert times[0] == times[1] != times[2]


def test_drawn_gaps_keep_the_order_of_turns(recording: Recording) -> None:
    turns: dict[str | None, list[int | None]] = {}
    for request in with_drawn_gaps(recording, span_s=10.0, seed=0):
        turns.setdefault(request.session, []).append(request.turn)
    assert turns == {"0": [0, 1], "0.1": [0], "1": [0, 1]}


def test_a_sample_keeps_whole_conversations_with_their_subagents(recording: Recording) -> None:
    samples = [recording.sample(1, seed=seed) for seed in range(8)]
    assert {frozenset(c.session for c in s.calls) for s in samples} == {
        frozenset({"0", "0.1"}),
        frozenset({"1"}),
    }
    assert recording.sample(9, seed=0) == recording


def test_coarser_blocks_are_every_kth_id(recording: Recording) -> None:
    coarse = coarsened(with_recorded_gaps(recording, span_s=0.0, seed=1), 2)
    blocks = {(r.session, r.turn): (list(r.blocks), r.block_tokens) for r in coarse}
    assert blocks["0", 1] == ([1, 9], 32)
    assert blocks["0.1", 0] == ([], 32)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "b.kvt.gz", [HEADER, call("0", 0, 0, [[0, 1]]), {"s": "0"}])
    with pytest.raises(TraceError, match=r"b\.kvt\.gz:3: .*missing"):
        read_kvt(path)
    line = {"timestamp": 0, "input_length": 700, "output_length": 9, "hash_ids": [4]}
    with pytest.raises(TraceError, match=r"m\.gz:1: hash_ids do not cover"):
        list(read_mooncake(written(tmp_path / "m.gz", [line])))


def test_more_blocks_than_tokens_are_refused(tmp_path: Path) -> None:
    bad = call("0", 0, 0, [[0, 3]]) | {"i": 40}
    with pytest.raises(TraceError, match="more blocks than input tokens"):
        read_kvt(written(tmp_path / "t.gz", [HEADER, bad]))


@pytest.mark.parametrize("rows", [[], [{"kvt": 2, "block": 16}], [{"kvt": 1, "block": 0}]])
def test_an_empty_file_and_another_version_are_refused(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(TraceError, match=r"t\.gz:1: "):
        read_kvt(written(tmp_path / "t.gz", rows))


def test_a_truncated_or_missing_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.gz", [HEADER, *(call("0", n, n, [[n, 1]]) for n in range(99))])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TraceError, match="cannot be read after line"):
        read_kvt(path)
    with pytest.raises(TraceError, match="cannot be read after line 0"):
        read_kvt(tmp_path / "none.gz")
