import csv
import io
import json
import random
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from typer.testing import CliRunner

from headstart.cli import app
from headstart.insight.replay.capacity import Capacity
from headstart.insight.replay.main import FINDING, FINE, IMPOSSIBLE, UNKNOWN, Given, main
from headstart.insight.replay.plot import curves
from headstart.insight.replay.source import Reading, Trace
from headstart.insight.replay.study import Question, study

DAY = datetime(2026, 11, 30, tzinfo=UTC)
PRICES = """
[models.anthropic.own]
input = 10
output = 0
read = 1
written = { 5m = 12.5 }
"""


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def conversations(path: Path, *, count: int = 30) -> Path:
    draw, ids, rows = random.Random(4), iter(range(10_000)), []
    talks: list[list[int]] = []
    for at in range(count):
        if not talks or draw.random() < 0.3:
            talks.append([])
        talk = draw.choice(talks)
        talk += [next(ids) for _ in range(draw.randint(1, 4))]
        rows.append(mooncake(at, talk[:]))
    return written(path, rows)


def mooncake(at: int, ids: list[int]) -> dict[str, Any]:
    return {
        "timestamp": 1000 * at,
        "input_length": 512 * len(ids),
        "output_length": 5,
        "hash_ids": ids,
    }


def asked(
    capsys: pytest.CaptureFixture[str], form: Any, path: Path, plot: Path | None = None, **more: Any
) -> tuple[int, str, str]:
    given = Given(
        **{"traces": [path], "policies": ["worth", "lru"], "capacities": ["20%", "50%"], "now": DAY}
        | more
    )
    status = main(given, form=form, plot=plot)
    out, err = capsys.readouterr()
    return status, out, err


def test_json_has_a_version_a_kind_for_each_number_and_is_the_same_every_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    status, out, err = asked(capsys, "json", path)
    assert (status, err) == (FINE, "")
    assert asked(capsys, "json", path)[1] == out
    found = json.loads(out)
    assert found["schema_version"] == 1
    assert found["kinds"]["hit_rate"] == "measured"
    assert found["kinds"]["optimum"] == "derived"
    for point in found["points"]:
        assert 0 < point["hit_rate"] <= point["optimum"] <= found["ceiling"]
    assert [(each["policy"], each["footprint_share"] <= 0.5) for each in found["points"]] == [
        ("worth", True),
        ("worth", True),
        ("lru", True),
        ("lru", True),
    ]


def test_csv_and_text_say_what_json_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    points = json.loads(asked(capsys, "json", path)[1])["points"]
    rows = list(csv.DictReader(io.StringIO(asked(capsys, "csv", path)[1])))
    assert [int(row["hit_tokens (measured)"]) for row in rows] == [p["hit_tokens"] for p in points]
    text = asked(capsys, "text", path)[1]
    assert all(f"{point['hit_rate']:.2%}" in text for point in points)


def test_money_follows_the_vendors_rules_and_its_lifetime(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1,024 tokens written at $12.5, read at $1 within 300 s, written anew behind that."""
    ids = [1, 2]
    path = written(tmp_path / "m.jsonl", [mooncake(at, ids) for at in (0, 100, 700)])
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    more = {"price": "anthropic/own", "prices": prices, "policies": ["lru"], "capacities": ["1M"]}
    status, out, _ = asked(capsys, "json", path, **more)
    (point,) = json.loads(out)["points"]
    assert status == FINE
    assert point["hit_tokens"] == 1024
    assert point["money"]["paid"] == str((2 * 1024 * 12.5 + 1024) / 1e6)
    assert point["money"]["without_cache"] == str(3 * 1024 * 10 / 1e6)


def test_an_unknown_price_is_no_number_and_has_its_own_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    status, out, err = asked(capsys, "json", path, price="anthropic/none-such")
    assert (status, "unknown" in err) == (UNKNOWN, True)
    assert {point["money"] for point in json.loads(out)["points"]} == {None}


def test_a_trace_in_which_nothing_comes_again_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "m.jsonl", [mooncake(at, [at]) for at in range(5)])
    status, out, _ = asked(capsys, "text", path)
    assert (status, "no cache helps" in out) == (FINDING, True)


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_prompts_that_fill_no_block_are_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    path = written(tmp_path / "t.jsonl", [{"tokens": [1, 2, 3]}] * 2)
    status, out, err = asked(capsys, form, path)
    assert (status, err) == (FINDING, "")
    assert form == "csv" or "No prompt fills a block of 16 tokens." in out


@pytest.mark.parametrize("as_served", [True, False])
@pytest.mark.parametrize("index", ["radix", "hash"])
def test_with_room_for_all_token_reuse_hits_what_a_cache_without_a_limit_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], index: str, as_served: bool
) -> None:
    """24 of 25 tokens that end within a block of 16, then those and the answer's first two."""
    prompt = list(range(25))
    rows = [{"tokens": prompt, "output": [7, 8, 9]}] * 2 + [{"tokens": [*prompt, 7, 8, 5]}]
    path = written(tmp_path / "t.jsonl", rows)
    more = {"reuse": "token", "capacities": ["10k"], "index": index, "as_served": as_served}
    found = json.loads(asked(capsys, "json", path, **more)[1])
    assert {point["hit_tokens"] for point in found["points"]} == {24 + 27}
    assert found["ceiling"] == pytest.approx((24 + 27) / (25 + 25 + 28))


def test_an_unknown_price_is_told_beside_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "m.jsonl", [mooncake(at, [at]) for at in range(5)])
    status, _, err = asked(capsys, "text", path, price="anthropic/none-such")
    assert (status, "unknown" in err) == (FINDING, True)


def test_what_a_drawn_clock_decides_is_an_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What comes again does so in any order; whether it is still there depends on it."""
    call = {"s": "1", "i": 32, "o": 1, "r": [[0, 2]]}
    rows = [{"kvt": 1, "block": 16}, *({**call, "u": turn, "t": turn} for turn in range(3))]
    found = json.loads(asked(capsys, "json", written(tmp_path / "k.jsonl", rows))[1])
    kinds = found["kinds"]
    assert {kinds[name] for name in ("span", "hit_rate", "optimum")} == {"estimated"}
    assert {curve["kind"] for curve in found["curves"]} == {"estimated"}
    assert (kinds["tokens"], kinds["ceiling"]) == ("measured", "derived")


@pytest.mark.parametrize(
    ("content", "more", "problem"),
    [
        ("", {}, "m.jsonl: empty"),
        ('{"timestamp": 0', {}, "m.jsonl:1: "),
        ("hello\n", {}, "m.jsonl:1: "),
        (None, {"capacities": ["much"]}, "no capacity"),
        (None, {"price": "anthropic"}, "VENDOR/MODEL"),
        (None, {"price": "acme/one"}, "no rules for the vendor"),
        (None, {"bound": False}, "give tokens"),
        (None, {"plot": Path("p.pdf")}, ".svg or .png"),
        (None, {"reuse": "token"}, "records blocks"),
        (None, {"lifetime": "5m"}, "without --price"),
        (None, {"prices": Path("prices.toml")}, "--prices says nothing without --price"),
        (None, {"as_of": DAY}, "--as-of says nothing without --price"),
        (None, {"route": "session"}, "--route says nothing with one replica"),
        (None, {"kv_token_bytes": 9}, "--kv-bytes-per-token says nothing without a size in bytes"),
        (None, {"reading": Reading(tokenizer=Path("t"))}, "--tokenizer says nothing"),
        (None, {"reading": Reading(span_s=9.0)}, "--span-hours says nothing"),
        (None, {"reading": Reading(seed=1)}, "--seed says nothing"),
        ('{"tokens": [1]}', {"reading": Reading(recorded_block=9)}, "--recorded-block says no"),
        (None, {"capacities": ["511"]}, "room for 511 tokens is no block of 512"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    more: dict[str, Any],
    problem: str,
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    if content is not None:
        path.write_text(content)
    status, out, err = asked(capsys, "text", path, **more)
    assert (status, out, err.count("\n")) == (IMPOSSIBLE, "", 1)
    assert err.startswith("headstart replay: ")
    assert problem in err


def test_a_tokenizer_for_token_ids_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokenizer.json"
    Tokenizer(WordLevel({"one": 1}, unk_token="one")).save(str(file))
    path = written(tmp_path / "t.jsonl", [{"tokens": [1]}])
    status, _, err = asked(capsys, "text", path, reading=Reading(tokenizer=file))
    assert status == IMPOSSIBLE
    assert "--tokenizer says nothing where no text is recorded" in err


@pytest.mark.parametrize("ttl", [None, 0.5])
def test_hit_rates_under_assumed_times_are_estimates_and_the_optimum_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ttl: float | None
) -> None:
    """Which request came first is recorded, and no more than that decides the optimum."""
    path = written(tmp_path / "t.jsonl", [{"tokens": list(range(64))}] * 3)
    status, out, _ = asked(capsys, "json", path, ttl=ttl, capacities=["1k"])
    found = json.loads(out)
    assert {name: found["kinds"][name] for name in ("span", "hit_rate", "optimum", "ceiling")} == {
        "span": "estimated",
        "hit_rate": "estimated",
        "optimum": "derived",
        "ceiling": "derived",
    }
    assert found["notes"][0].startswith("Times are assumed: 3 requests have none")
    assert "Times are assumed" in asked(capsys, "text", path, capacities=["1k"])[1]
    assert status == (FINE if ttl is None else FINDING)


def test_a_policy_or_capacity_that_is_given_twice_is_run_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    more = {"policies": ["lru", "lru"], "capacities": ["2k", "2000", "4k"]}
    points = json.loads(asked(capsys, "json", path, **more)[1])["points"]
    assert [each["capacity_tokens"] for each in points] == [1536, 3584]


def test_options_that_are_repeated_add_up_and_numbers_are_spelled_as_in_a_plan(
    tmp_path: Path,
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    flags = ("--capacity", "1e4", "--capacity", "20k,50%", "--policy", "lru", "--policy", "fifo")
    done = CliRunner().invoke(app, ["replay", str(path), *flags, "--ttl", "5m", "--format", "json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [each["policy"] for each in found["points"]] == ["lru"] * 3 + ["fifo"] * 3
    assert [each["capacity_tokens"] for each in found["points"]][:2] == [9728, 19968]
    assert found["setup"]["ttl_s"] == 300


def test_without_the_optimum_absolute_capacities_hit_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    with_it, without = (
        json.loads(asked(capsys, "json", path, capacities=["10k"], bound=bound)[1])["points"]
        for bound in (True, False)
    )
    assert [point["hit_tokens"] for point in with_it] == [point["hit_tokens"] for point in without]
    assert {point["optimum"] for point in without} == {None}


@pytest.mark.parametrize("as_served", [True, False])
def test_a_cache_larger_than_all_there_is_takes_no_more_memory_than_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_served: bool
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    more = {"policies": ["lru"], "as_served": as_served}
    asked(capsys, "json", path, **more)  # Imports.
    tracemalloc.start()
    out = asked(capsys, "json", path, capacities=["200M", "1T"], **more)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found = json.loads(out)
    assert [each["hit_rate"] for each in found["points"]] == [found["ceiling"]] * 2
    assert found["points"][1]["capacity_tokens"] == 10**12 // 512 * 512
    assert peak < 2_000_000


def test_stdin_is_read_like_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = conversations(tmp_path / "m.jsonl")
    points = json.loads(asked(capsys, "json", path)[1])["points"]
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert json.loads(asked(capsys, "json", Path("-"))[1])["points"] == points


@pytest.mark.parametrize("more", [{"replicas": 3}, {"tiers": {"ram": Capacity(share=0.8)}}])
def test_no_point_of_a_fleet_is_drawn_above_the_optimum(tmp_path: Path, more: Any) -> None:
    trace = Trace([conversations(tmp_path / "m.jsonl")], Reading())
    capacities = [Capacity(share=share) for share in (0.02, 0.05, 0.1)]
    report = study(trace, Question(["worth", "lru"], capacities, **more))
    best = dict(curves(report)["optimum"])
    assert set(curves(report)) == {"optimum"}
    for point in report.points:
        assert point.outcome.hit_rate <= best[point.capacity_tokens]


@pytest.mark.slow
def test_the_plot_is_the_same_file_every_time_and_names_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    path = conversations(tmp_path / "m.jsonl")
    for name in ("one.svg", "two.svg"):
        assert asked(capsys, "text", path, plot=tmp_path / name)[0] == FINE
    one, two = (tmp_path / "one.svg").read_text(), (tmp_path / "two.svg").read_text()
    assert one == two
    assert all(word in one for word in ("worth", "lru", "optimum", "without a limit"))
