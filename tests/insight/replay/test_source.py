import gzip
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    trace(two, MOONCAKE | {"hash_ids": [2**63, 2**50]})
    first, second = blocks(Trace([one, two], Reading()).requests())
    assert len({*first, *second}) == 3
    assert first[0] == second[0]


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


def kvt(times: list[int]) -> list[object]:
    return [call(str(at % 5), at, time, [[at % 5, 1]]) for at, time in enumerate(times)]


def kvt_without_times(times: list[int]) -> list[object]:
    return kvt([0] * len(times))


def mooncakes(times: list[int]) -> list[object]:
    return [MOONCAKE | {"timestamp": time, "hash_ids": [0, 1 + time]} for time in times]


def chats(times: list[int]) -> list[object]:
    """Each goes on from the one before it."""
    return [BAILIAN | {"timestamp": t, "chat_id": t, "parent_chat_id": t - 1} for t in times]


def timed_bodies(times: list[int]) -> list[object]:
    return [{"time": time, "tokens": [1, 2, time]} for time in times]


@pytest.mark.parametrize("rows", [kvt, kvt_without_times, mooncakes, chats, timed_bodies])
@given(
    times=st.lists(st.integers(1, 60), min_size=1, max_size=20, unique=True).map(sorted),
    deal=st.lists(st.integers(0, 2), min_size=20, max_size=20),
)
def test_a_recording_dealt_to_several_files_is_the_same_stream(
    tmp_path_factory: pytest.TempPathFactory,
    rows: Callable[[list[int]], list[object]],
    times: list[int],
    deal: list[int],
) -> None:
    head = [HEADER] if rows in (kvt, kvt_without_times) else []
    folder, lines = tmp_path_factory.mktemp("dealt"), rows(times)
    whole = list(trace(folder / "whole", *head, *lines).requests())
    hands = [[each for each, to in zip(lines, deal, strict=False) if to == n] for n in range(3)]
    paths = [folder / str(n) for n, hand in enumerate(hands) if hand]
    for path in paths:
        trace(path, *head, *hands[int(path.name)])
    dealt = Trace(paths, Reading())
    assert list(dealt.requests()) == list(dealt.requests()) == whole


def test_what_was_done_with_several_files_is_said(tmp_path: Path) -> None:
    def note(*times: list[int]) -> str:
        paths = [tmp_path / f"{n}.jsonl" for n in range(len(times))]
        for path, each in zip(paths, times, strict=True):
            trace(path, *mooncakes([1000 * time for time in each]))
        read = Trace(paths, Reading())
        list(read.requests())
        (said,) = read.notes
        return said

    assert note([0, 10], [4, 30]) == (
        "2 files, merged by their times as those of one clock: for 6 s they ran at once."
    )
    assert note([0, 7200], [0, 3600], [1800, 1900]).endswith("for 1.0 h they ran at once.")
    assert note([20, 30], [0, 10]) == "2 files, one after the other by their clocks."


def test_lines_that_stand_out_of_order_keep_their_place(tmp_path: Path) -> None:
    """A server logs requests in the order in which they end."""
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    trace(one, *timed_bodies([5, 3, 20]))
    trace(two, *timed_bodies([4, 6]))
    assert [each.time_s for each in Trace([one, two], Reading()).requests()] == [4, 5, 3, 6, 20]


@pytest.mark.parametrize("mixed", [False, True])
def test_bodies_without_times_come_a_second_apart_one_file_after_the_other(
    tmp_path: Path, mixed: bool
) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    trace(one, *[{"tokens": [1]}] * 3)
    trace(two, *([{"time": 9, "tokens": [2]}] if mixed else [{"tokens": [2]}] * 2))
    if mixed:
        with pytest.raises(TraceError, match=r"2\.jsonl has times and 1\.jsonl has none"):
            Trace([one, two], Reading())
        return
    read = Trace([one, two], Reading())
    assert [(each.time_s, each.blocks[0]) for each in read.requests()] == [
        (1, 1), (2, 1), (3, 1), (4, 2), (5, 2),
    ]  # fmt: skip
    assert (read.times, read.order) == ("estimated", "measured")
    assert read.notes == [
        "2 files without times, one after the other as they were named.",
        "Times are assumed: 5 requests have none, and are taken to come a second after the one"
        " before.",
    ]


def test_a_time_that_is_missing_is_a_second_after_the_one_before(tmp_path: Path) -> None:
    rows = [{"tokens": [1], "time": 100}, {"tokens": [1]}, {"tokens": [1], "timestamp": None}]
    read = trace(tmp_path / "b.jsonl", *rows)
    assert [each.time_s for each in read.requests()] == [100, 101, 102]
    assert read.notes[0].startswith("Times are assumed: 2 requests have none")
    assert trace(tmp_path / "c.jsonl", rows[0]).times == "measured"


@pytest.mark.parametrize("form", ["mooncake", "kvt"])
def test_recordings_that_count_their_blocks_apart_are_refused(tmp_path: Path, form: str) -> None:
    """Both begin at 0, as recordings do that were made anonymous."""
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    if form == "kvt":
        trace(one, HEADER, call("a", 0, 0, [[0, 9]]), call("b", 0, 0, [[0, 2], [9, 3]]))
        trace(two, HEADER, call("c", 0, 0, [[0, 4]]), call("d", 0, 0, [[4, 3]]))
    else:
        trace(one, MOONCAKE | {"hash_ids": [0, 1]}, MOONCAKE | {"hash_ids": [0, 2]})
        trace(two, MOONCAKE | {"hash_ids": [0, 1]}, MOONCAKE | {"hash_ids": [2, 3]})
    with pytest.raises(TraceError, match=r"2\.jsonl:.: block . is another one than in 1\.jsonl"):
        list(Trace([one, two], Reading()).requests())


def test_ids_that_name_contents_are_no_mooncake_trace(tmp_path: Path) -> None:
    rows = [MOONCAKE | {"hash_ids": ids} for ids in ([1, 7], [2, 7])]
    with pytest.raises(TraceError, match=r"m\.jsonl:2: block 7 stood behind another one before"):
        list(trace(tmp_path / "m.jsonl", *rows).requests())


def test_kvt_files_of_different_blocks_are_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "1.kvt", tmp_path / "2.kvt"
    trace(one, HEADER, call("0", 0, 0, [[0, 1]]))
    trace(two, {"kvt": 1, "block": 64}, call("0", 1, 0, []))
    with pytest.raises(TraceError, match=r"2\.kvt: blocks of 64 tokens, but 1\.kvt has some of 16"):
        Trace([one, two], Reading())


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    trace(tmp_path / "m.jsonl", MOONCAKE)
    with pytest.raises(TraceError, match=r"m\.jsonl is given twice"):
        Trace([tmp_path / "m.jsonl"] * 2, Reading())


def test_a_text_in_any_file_makes_lengths_estimates(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    trace(one, *[{"tokens": [1]}] * 200)
    trace(two, {"prompt": "words"})
    assert Trace([one], Reading()).lengths == "measured"
    assert Trace([one, two], Reading()).lengths == "estimated"
    with one.open("a") as file:
        file.write('{"prompt": "late"}')
    late = Trace([one], Reading())
    list(late.requests())
    assert late.lengths == "estimated"


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
    rows = [MOONCAKE | {"hash_ids": draw.sample(range(2**30), 2)} for _ in range(2000)]
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
