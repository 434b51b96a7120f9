import gzip
import json
from pathlib import Path

import pytest
from tests.insight.plan.asking import ask, report, value

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.trace import curve, read_trace
from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.replay import replay


def write_mooncake(path: Path, prompts: list[list[int]], block: int = 512) -> Path:
    rows = [
        {"timestamp": 1000 * at, "input_length": len(ids) * block, "output_length": 1,
         "hash_ids": ids}
        for at, ids in enumerate(prompts)
    ]  # fmt: skip
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Eight conversations in turn, each growing by a block; 8 x 6 different blocks."""
    prompts = [
        [100 * who + depth for depth in range(turn)] for turn in range(1, 7) for who in range(8)
    ]
    return write_mooncake(tmp_path / "growing.jsonl.gz", prompts)


def test_the_curve_is_what_the_cache_itself_reuses(trace: Path) -> None:
    recorded = read_trace(trace)
    requests = recorded.requests
    optimum = Optimum(requests)
    drawn = curve(recorded, policies=["lru", "fifo"], pool_tokens=20 * 512 + 511)
    assert drawn.footprint_tokens == 48 * 512
    assert drawn.ceiling == optimum.ceiling() == 120 / 168  # (T - 1) / (T + 1), T = 6, is 5 / 7.
    for point in drawn.points:
        blocks = point.tokens // 512
        assert point.rates == {
            policy: replay(requests, policy=policy, capacity=blocks).hit_rate
            for policy in ("lru", "fifo")
        }
        assert point.optimum == optimum.hit_rate(blocks)
    (own,) = (point for point in drawn.points if point.planned)
    assert own.tokens == 20 * 512
    assert drawn.planned == own


def test_numbers_of_a_trace_are_known_as_a_replay_knows_them(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text((json.dumps({"prompt": "x" * 640}) + "\n") * 2)
    made = report(trace=path)
    figures = [each for section in made.sections for each in section.figures]
    assert {each.kind for each in figures if each.key.startswith("trace_")} == {"estimated"}


def test_a_trace_that_fills_no_block_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.jsonl"
    path.write_text('{"tokens": [1, 2, 3]}\n')
    with pytest.raises(PlanError, match="fills 16"):
        read_trace(path)


def test_a_plan_says_what_its_pool_would_hit(trace: Path) -> None:
    """A GPU with room for the weights and 20 of 48 blocks."""
    memory = f"{8_030_261_248 * 2 + 20 * 512 * 131_072}"
    made = report(trace=trace, gpu_memory=memory, reserve="0")
    requests = read_trace(trace).requests
    assert value(made, "trace_ceiling") == Optimum(requests).ceiling()
    assert value(made, "trace_footprint") == 48 * 512 * 131_072
    assert value(made, "trace_hit_rate_lru") == (
        replay(requests, policy="lru", capacity=20).hit_rate
    )
    assert made.figure("trace_hit_rate_worth").kind == "measured"
    sizes = [float(row[0]) for row in made.table("capacities").rows]  # type: ignore[arg-type]
    assert sizes == sorted(set(sizes))
    assert 20 * 512 * 131_072 in sizes


def test_any_recording_that_replay_reads_will_do(tmp_path: Path) -> None:
    """Ten times the same 64 token ids of which at most 63, so three blocks of 16, are reused."""
    path = tmp_path / "bodies.jsonl"
    path.write_text("\n".join([json.dumps({"tokens": list(range(64))})] * 10))
    made = report(trace=path)
    assert value(made, "trace_ceiling") == 9 * 48 / 640
    assert value(made, "trace_hit_rate_worth") == 9 * 48 / 640


def test_what_a_recording_leaves_open_is_said(tmp_path: Path) -> None:
    path = tmp_path / "bodies.jsonl"
    path.write_text("\n".join([json.dumps({"prompt": "once more " * 20})] * 2))
    assert (
        "Texts are counted as four bytes to a token" in report(trace=path).table("capacities").note
    )


def test_an_unknown_policy_is_refused(trace: Path) -> None:
    with pytest.raises(PlanError, match="'random' is no policy: choose one of"):
        ask(trace=trace, policies=["lru", "random"])
