import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.insight.replay.test_kvt import HEADER, call

from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.request import Request
from headstart.insight.replay.source import Reading, Trace

MOONCAKE = {"timestamp": 0, "input_length": 600, "output_length": 9, "hash_ids": [4, 8]}
BAILIAN = {
    "chat_id": 1,
    "parent_chat_id": -1,
    "timestamp": 2.5,
    "input_length": 40,
    "output_length": 3,
    "type": "text",
    "turn": 1,
    "hash_ids": [7, 7, 9],
}


def trace(path: Path, *rows: object, **reading: object) -> Trace:
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return Trace([path], Reading(**reading))  # type: ignore[arg-type]


def blocks(requests: Iterable[Request]) -> list[list[int]]:
    return [list(request.blocks) for request in requests]


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "anything.gz"])
def test_a_format_is_told_by_the_first_line_and_gzip_by_its_bytes(
    tmp_path: Path, name: str
) -> None:
    assert trace(tmp_path / name, MOONCAKE).format == "mooncake"
    assert trace(tmp_path / name, BAILIAN).format == "bailian"
    assert trace(tmp_path / name, HEADER, call("0", 0, 0, [[0, 3]])).format == "kvt"
    assert (
        trace(tmp_path / name, {"messages": [{"role": "user", "content": "x"}]}).format == "bodies"
    )


def test_hashes_mean_the_same_in_all_files_of_a_recording(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    trace(one, MOONCAKE | {"hash_ids": [2**63, 2**40]})
    trace(two, MOONCAKE | {"hash_ids": [2**50, 2**40]})
    first, second = blocks(Trace([one, two], Reading()).requests())
    assert len({*first, *second}) == 3
    assert first[1] == second[1]


def test_chats_that_go_on_from_one_another_are_one_session(tmp_path: Path) -> None:
    rows = [
        BAILIAN,
        BAILIAN | {"chat_id": 2, "parent_chat_id": 1},
        BAILIAN | {"chat_id": 3},
        BAILIAN | {"chat_id": 4, "parent_chat_id": 2},
    ]
    sessions = [each.session for each in trace(tmp_path / "q.jsonl", *rows).requests()]
    assert sessions == ["1", "1", "3", "1"]


def test_blocks_named_by_their_content_are_told_apart_by_what_stands_before_them(
    tmp_path: Path,
) -> None:
    other = BAILIAN | {"hash_ids": [5, 7, 9]}
    (one, same, two) = blocks(trace(tmp_path / "q.jsonl", BAILIAN, BAILIAN, other).named())
    assert one == same
    assert len({*one, *two}) == 6


def test_coarser_blocks_of_content_ids_are_equal_only_where_all_of_them_is(tmp_path: Path) -> None:
    other = BAILIAN | {"hash_ids": [5, 7, 9]}
    read = trace(tmp_path / "q.jsonl", BAILIAN, other, BAILIAN, block_size=32)
    one, two, same = blocks(read.requests())
    assert (len(one), one == same, one == two) == (1, True, False)


def test_hashes_of_64_bits_are_numbered(tmp_path: Path) -> None:
    rows = [MOONCAKE | {"hash_ids": ids} for ids in ([2**63, 2**40], [2**63, 5])]
    one, two = blocks(trace(tmp_path / "m.jsonl", *rows).requests())
    assert one[0] == two[0]
    assert len({*one, *two}) == 3


def test_a_mooncake_line_is_a_request_whose_last_block_may_be_part_full(tmp_path: Path) -> None:
    (request,) = trace(tmp_path / "m.gz", MOONCAKE | {"timestamp": 1500}).requests()
    assert (request.time_s, list(request.blocks), request.output_tokens) == (1.5, [4, 8], 9)
    assert [request.prefix_tokens(n) for n in range(3)] == [0, 512, 600]


def test_several_kvt_files_are_one_stream_in_the_order_of_time(tmp_path: Path) -> None:
    paths = [tmp_path / "a.kvt", tmp_path / "b.kvt"]
    for number, path in enumerate(paths):
        trace(path, HEADER, *(call(f"{number}", n, 1000 * n, [[n, 1]]) for n in range(9)))
    times = [each.time_s for each in Trace(paths, Reading(span_s=5.0)).requests()]
    assert len(times) == 18
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "empty"),
        ([{"foo": 1}], "neither kvt, Mooncake"),
        ([[1]], "1: Expected `object`"),
        ([MOONCAKE | {"hash_ids": [1]}], "do not cover"),
        ([MOONCAKE, {"timestamp": 1}], "2: .*missing"),
        ([MOONCAKE | {"input_length": -5, "hash_ids": []}], "1: .*>= 0"),
        ([HEADER, call("0", 2**70, 0, [[0, 1]])], "2: "),
        ([HEADER, call("0", 0, 0, [[2**32, 1]])], "2: ids are of 32 bits"),
        ([MOONCAKE | {"timestamp": 1e300}], "1: .*<= 1"),
        ([HEADER, call("0", 0, 1e300, [[0, 1]])], "2: .*<= 1"),
        ([{"tokens": [1], "time": "nan"}], "nan is no time"),
        ([{"tokens": [1], "expected_gap": 1e300}], "is no time"),
        ([{"messages": []}], "no request: neither"),
        ([{"tokens": [1, -4]}], "no request"),
        ([HEADER], "holds no requests"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, rows: list[object], problem: str) -> None:
    with pytest.raises(TraceError, match=problem):
        list(trace(tmp_path / "t.jsonl", *rows).requests())


def test_damage_inside_a_file_is_named_by_the_line_before_it(tmp_path: Path) -> None:
    draw = random.Random(1)
    rows = [MOONCAKE | {"hash_ids": [draw.getrandbits(30), 8]} for _ in range(2000)]
    read = trace(tmp_path / "m.jsonl.gz", *rows)
    packed = bytearray((tmp_path / "m.jsonl.gz").read_bytes())
    packed[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    (tmp_path / "m.jsonl.gz").write_bytes(packed)
    with pytest.raises(TraceError, match=r"m\.jsonl\.gz"):
        list(read.requests())


def test_a_ledger_is_said_to_hold_no_prompts(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"SQLite format 3\x00" + bytes(100))
    with pytest.raises(TraceError, match="accounts, not what was asked"):
        Trace([path], Reading())


def test_files_of_different_formats_are_refused(tmp_path: Path) -> None:
    trace(tmp_path / "a.jsonl", MOONCAKE)
    trace(tmp_path / "b.jsonl", BAILIAN)
    with pytest.raises(TraceError, match="one format at a time"):
        Trace([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], Reading())


def test_a_block_size_must_be_a_multiple_of_the_recorded_one(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no multiple"):
        trace(tmp_path / "m.jsonl", MOONCAKE, block_size=700)
