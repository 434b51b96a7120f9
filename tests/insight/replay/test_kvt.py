import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from headstart.insight.replay.kvt_stream import KvtStream
from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.request import Request, coarsened

HEADER = {"kvt": 1, "block": 16}


def written(path: Path, rows: Iterable[object]) -> Path:
    path.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    return path


def call(session: str, turn: int, ms: int, runs: list[list[int]]) -> dict[str, object]:
    tokens = 16 * sum(count for _, count in runs) + 5
    return {"s": session, "u": turn, "t": ms, "i": tokens, "o": 7, "c": "end_turn", "r": runs}


TWO_CONVERSATIONS = [
    HEADER,
    call("0", 0, 0, [[0, 3]]),
    call("0", 1, 2000, [[0, 3], [9, 2]]),
    call("0.1", 0, 1000, [[20, 1]]),
    call("1", 0, 0, [[0, 1]]),
    call("1", 1, 500, [[0, 1], [30, 4]]),
]
WITHOUT_TIMES = [HEADER, *(each | {"t": 0} for each in TWO_CONVERSATIONS[1:])]


def stream(path: Path, rows: Iterable[object], *, span_s: float = 0.0, seed: int = 1) -> KvtStream:
    return KvtStream([written(path, rows)], span_s=span_s, seed=seed)


def by_call(requests: Iterable[Request]) -> dict[tuple[str | None, int | None], Request]:
    return {(each.session, each.turn): each for each in requests}


def test_runs_of_block_ids_are_written_out(tmp_path: Path) -> None:
    second = by_call(stream(tmp_path / "t.kvt.gz", TWO_CONVERSATIONS).requests())["0", 1]
    assert list(second.blocks) == [0, 1, 2, 9, 10]
    assert (second.stop, second.block_tokens, second.prompt_tokens) == ("end_turn", 16, 85)


def test_a_run_may_be_longer_than_a_page_of_ids_and_begin_anywhere(tmp_path: Path) -> None:
    rows = [HEADER, call("0", 0, 0, [[65_530, 140_000]])]
    (request,) = stream(tmp_path / "t.kvt.gz", rows).requests()
    assert list(request.blocks) == list(range(65_530, 65_530 + 140_000))


def test_recorded_gaps_are_kept_and_a_subagent_shares_its_parents_begin(tmp_path: Path) -> None:
    read = stream(tmp_path / "t.kvt.gz", TWO_CONVERSATIONS, span_s=1e6, seed=3)
    assert read.clock_recorded
    requests = list(read.requests())
    at = {key: each.time_s for key, each in by_call(requests).items()}
    assert at["0", 1] - at["0", 0] == pytest.approx(2.0)
    assert at["0.1", 0] - at["0", 0] == pytest.approx(1.0)
    assert abs(at["1", 0] - at["0", 0]) > 1000
    assert [each.time_s for each in requests] == sorted(at.values())


@pytest.mark.parametrize("rows", [TWO_CONVERSATIONS, WITHOUT_TIMES], ids=["recorded", "drawn"])
def test_the_same_seed_gives_the_same_clock_and_another_one_does_not(
    tmp_path: Path, rows: list[object]
) -> None:
    one, same, other = (
        [each.time_s for each in stream(tmp_path / "t", rows, span_s=99.0, seed=seed).requests()]
        for seed in (5, 5, 6)
    )
    assert one == same != other


def test_drawn_gaps_keep_the_order_of_turns(tmp_path: Path) -> None:
    read = stream(tmp_path / "t", reversed_turns(WITHOUT_TIMES), span_s=10.0)
    assert not read.clock_recorded
    turns: dict[str | None, list[int | None]] = {}
    for request in read.requests():
        turns.setdefault(request.session, []).append(request.turn)
    assert turns == {"0": [0, 1], "0.1": [0], "1": [0, 1]}


def reversed_turns(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [rows[0], *reversed(rows[1:])]


def test_a_stream_can_be_read_again(tmp_path: Path) -> None:
    read = stream(tmp_path / "t", TWO_CONVERSATIONS, span_s=50.0)
    assert list(read.requests()) == list(read.requests())


def test_coarser_blocks_are_every_kth_id(tmp_path: Path) -> None:
    coarse = by_call(coarsened(stream(tmp_path / "t", TWO_CONVERSATIONS).requests(), 2))
    second, sub = coarse["0", 1], coarse["0.1", 0]
    assert (list(second.blocks), second.block_tokens) == ([1, 9], 32)
    assert (list(sub.blocks), sub.block_tokens) == ([], 32)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    rows = [HEADER, call("0", 0, 0, [[0, 1]]), {"s": "0"}]
    with pytest.raises(TraceError, match=r"b\.kvt\.gz:3: .*missing"):
        stream(tmp_path / "b.kvt.gz", rows)


def test_more_blocks_than_tokens_are_refused(tmp_path: Path) -> None:
    bad = call("0", 0, 0, [[0, 3]]) | {"i": 40}
    with pytest.raises(TraceError, match="more blocks than input tokens"):
        stream(tmp_path / "t.gz", [HEADER, bad])


@pytest.mark.parametrize("rows", [[], [{"kvt": 2, "block": 16}], [{"kvt": 1, "block": 0}]])
def test_an_empty_file_and_another_version_are_refused(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(TraceError, match=r"t\.gz:1: "):
        stream(tmp_path / "t.gz", rows)
