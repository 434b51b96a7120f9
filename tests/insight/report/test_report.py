"""The report as a whole. Right values are worked out by hand from prices and usage."""

import csv
import io
import json
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.insight.report.logs import (
    SONNET,
    START,
    bare,
    chat,
    chat_usage,
    claude,
    messages_usage,
    words,
    write,
)

from headstart.insight.report.document import Document
from headstart.insight.report.main import Given, main, report
from headstart.ledger import Account, Row, Store

DAY = date(2026, 11, 30)
PRICES = """
[models.anthropic."claude-sonnet-4-5"]
input = 3
output = 15
read = 0.3
written = { 5m = 3.75, 1h = 6 }
[models.openai."gpt-5.4"]
input = 2
output = 10
read = 0.2
"""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


def told(*places: str, **given: Any) -> Document:
    document, troubles = report(Given(places, **given), today=DAY)
    assert not troubles
    return document


def value(document: Document, key: str) -> Any:
    return document.figure(key).value


def test_usage_without_bodies_is_summed_by_tokens_with_money_beside(
    tmp_path: Path, prices: Path
) -> None:
    lines = [bare(messages_usage(50, 0, 950)), bare(messages_usage(100, 950, 0))]
    found = told(write(tmp_path / "log.jsonl", lines), prices=prices)
    assert value(found, "prompt_tokens") == 2050
    assert value(found, "token_hit_rate") == pytest.approx(950 / 2050)
    assert value(found, "fresh_tokens") == 150
    assert value(found, "read_tokens") == 950
    assert value(found, "written_tokens.5m") == 950
    # 150 x 3 + 950 x 0.3 + 950 x 3.75 + 20 x 15, in millionths.
    assert float(value(found, "paid")) == pytest.approx(0.0045975)
    assert float(value(found, "without_cache")) == pytest.approx(0.00645)
    assert value(found, "ceiling") is None


def test_the_rate_is_of_tokens_and_never_of_requests(tmp_path: Path) -> None:
    """Ten of ten requests hit, and still a fifth of the tokens was computed."""
    lines = [bare(messages_usage(200, 800)) for _ in range(10)]
    found = told(write(tmp_path / "log.jsonl", lines))
    assert value(found, "token_hit_rate") == pytest.approx(0.8)


def test_inclusive_and_additive_usage_of_one_request_give_one_rate(tmp_path: Path) -> None:
    """300 fresh, 700 read: Anthropic leaves the 700 out of its input, OpenAI doesn't."""
    additive = told(write(tmp_path / "a.jsonl", [bare(messages_usage(300, 700))]))
    inclusive = told(write(tmp_path / "o.jsonl", [bare(chat_usage(1000, 700), "gpt-5.4")]))
    for found in (additive, inclusive):
        assert value(found, "token_hit_rate") == pytest.approx(0.7)
        assert value(found, "fresh_tokens") == 300


def test_what_was_written_counts_to_the_prompt(tmp_path: Path) -> None:
    """A peer left cache writes out: 94.7 % instead of 85.7 %."""
    found = told(write(tmp_path / "log.jsonl", [bare(messages_usage(34, 600, 66))]))
    assert value(found, "token_hit_rate") == pytest.approx(600 / 700)


def test_a_write_is_paid_back_by_reads_and_not_by_uses(tmp_path: Path, prices: Path) -> None:
    """0.25 / 0.9 reads. A peer called 1.28 uses 1.28 reads."""
    lines = [bare(messages_usage(0, 0, 1000)), bare(messages_usage(0, 1000, 0))]
    found = told(write(tmp_path / "log.jsonl", lines), prices=prices)
    figure = found.figure(f"break_even.{SONNET}.5m")
    assert float(str(figure.value)) == pytest.approx(0.25 / 0.9)
    assert figure.how.endswith("each token written was read 1.00 times")


def test_bedrocks_converse_is_not_taken_for_messages(tmp_path: Path) -> None:
    """Its usage leaves out what was cached, as Anthropic's does, under names of its own."""
    body = {
        "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": "q"}]}],
    }
    usage = {
        "inputTokens": 50,
        "cacheReadInputTokens": 700,
        "cacheWriteInputTokens": 250,
        "outputTokens": 1,
    }
    found = told(write(tmp_path / "log.jsonl", [{"body": body, "usage": usage}]))
    assert value(found, "prompt_tokens") == 1000
    assert value(found, "written_tokens.5m") == 250
    assert value(found, "paid") is not None


def test_an_unknown_model_has_unknown_money_and_never_nothing(tmp_path: Path) -> None:
    found = told(write(tmp_path / "log.jsonl", [bare(chat_usage(1000, 700), "my-own-model")]))
    assert [value(found, key) for key in ("paid", "without_cache", "saved")] == [None] * 3
    assert value(found, "token_hit_rate") == pytest.approx(0.7)
    as_json = run_json(tmp_path / "log.jsonl")
    assert as_json["figures"]["paid"]["value"] is None


def run_json(*places: Path) -> Any:
    from headstart.insight.report.render import as_json

    return json.loads(as_json(told(*map(str, places))))


def test_money_says_how_many_requests_it_is_of(tmp_path: Path, prices: Path) -> None:
    lines = [bare(chat_usage(1000, 0), "gpt-5.4"), bare(chat_usage(1000, 0), "nobody-knows")]
    found = told(write(tmp_path / "log.jsonl", lines), prices=prices)
    assert float(value(found, "paid")) == pytest.approx(0.0021)
    assert found.figure("paid").how == "1 of 2 requests have a known price"


def test_a_batch_has_no_list_price_but_one_may_be_given(tmp_path: Path, prices: Path) -> None:
    answer = {"model": SONNET, "type": "message", "usage": messages_usage(1000, 0)}
    line = {"custom_id": "a", "result": {"type": "succeeded", "message": answer}}
    path = write(tmp_path / "results.jsonl", [line])
    assert value(told(path), "paid") is None
    assert float(value(told(path, prices=prices), "paid")) == pytest.approx(0.00315)


def test_the_ceiling_is_what_an_endless_cache_would_have_read(tmp_path: Path) -> None:
    """The same 1,000 words before ten questions of 100: nine of ten times they could be read."""
    system = words("s0x", 1000)  # Each word as many tokens as a question's.
    lines = [chat(system, words(f"q{n}x", 100), usage=chat_usage(1100, 0)) for n in range(10)]
    found = told(write(tmp_path / "log.jsonl", lines))
    assert value(found, "ceiling") == pytest.approx(9 * 1000 / 11_000, abs=0.02)
    assert found.figure("ceiling").kind == "estimated"


def test_what_was_read_could_be_read(tmp_path: Path) -> None:
    """Traffic before the recording had warmed it: the ceiling isn't below the rate."""
    lines = [chat("s", "q", usage=chat_usage(2000, 1920))]
    found = told(write(tmp_path / "log.jsonl", lines))
    assert value(found, "ceiling") == pytest.approx(0.96)


def test_a_target_above_the_ceiling_is_impossible(tmp_path: Path) -> None:
    system = words("s", 200)
    lines = [chat(system, words(f"q{n}x", 800), usage=chat_usage(1000, 100)) for n in range(10)]
    path = write(tmp_path / "log.jsonl", lines)
    low, impossible = told(path, target=0.99).findings[:2]
    assert low == "The token hit rate is 10.0%, below the target of 99.0%."
    assert impossible.startswith("The target of 99.0% is impossible for these requests")
    assert told(path, target=0.05).findings == []


def test_a_servers_claim_above_the_ceiling_is_impossible(tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.prom"
    metrics.write_text("vllm:gpu_prefix_cache_hit_rate 0.99\n")
    lines = [chat(words("s", 200), words(f"q{n}x", 800), usage=chat_usage(1000, 0)) for n in (1, 2)]
    found = told(write(tmp_path / "log.jsonl", lines), str(metrics))
    assert any("states a hit rate of 99.0%: impossible" in each for each in found.findings)


def test_bodies_without_usage_are_estimated_and_say_so(tmp_path: Path) -> None:
    system = words("s", 3000)
    lines = [chat(system, f"question {n}", time=START + n) for n in range(4)]
    found = told(write(tmp_path / "log.jsonl", lines))
    assert found.kind == "estimated"
    assert found.figure("prompt_tokens").kind == "estimated"
    assert value(found, "token_hit_rate") == pytest.approx(0.75, abs=0.02)
    assert value(found, "output_tokens") is None


def test_measured_and_estimated_requests_are_never_added_up(tmp_path: Path) -> None:
    lines = [chat("s", "q1", usage=chat_usage(2000, 0)), chat("s", "q2")]
    found = told(write(tmp_path / "log.jsonl", lines))
    assert value(found, "prompt_tokens") == 2000
    assert value(found, "left_out") == 1


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("model", {"gpt-5.4", SONNET}),
        ("tenant", {"a", "(unknown)"}),
        ("route", {"eu", "(unknown)"}),
        ("hour", {"2026-09-21T14:00Z", "(unknown)"}),
    ],
)
def test_groups_are_by_what_was_asked_for(tmp_path: Path, by: Any, names: set[str]) -> None:
    lines = [
        bare(messages_usage(1, 2), tenant="a", route="eu", time=START),
        bare(chat_usage(1, 0), "gpt-5.4"),
    ]
    found = told(write(tmp_path / "log.jsonl", lines), by=by)
    assert {name for name, _ in found.groups} == names
    assert sum(sums.prompt for _, sums in found.groups) == 4


def test_prefixes_are_named_by_their_first_words_or_a_hash(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log.jsonl",
        [chat(f"You are {name}.", "q", usage=chat_usage(9, 0)) for name in ("Ann", "Bob", "Bob")],
    )
    names = [name for name, _ in told(path, by="prefix").groups]
    assert {name.split(" ", 1)[1] for name in names} == {"You are Ann.", "You are Bob."}
    hidden = [name for name, _ in told(path, by="prefix", redact=True).groups]
    assert len(hidden) == 2
    assert not any("Ann" in name or "Bob" in name for name in hidden)


def test_a_ledger_is_read_beside_a_log(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    store = Store(ledger)
    rows = [(Account(1000, 0), 0, "never_seen"), (Account(1000, 200), 900, "evicted")]
    for account, ever, reason in rows:
        store.add(
            Row(
                START,
                "r",
                "t",
                "k",
                "m",
                "engine",
                "openai",
                account,
                account.read,
                reason=reason,
                reusable_ever=ever,
            )
        )
    store.close()
    log = write(tmp_path / "log.jsonl", [bare(chat_usage(500, 0), "m")])
    alone, both = told(str(ledger)), told(str(ledger), log)
    assert value(alone, "ceiling") == pytest.approx(0.45)
    assert alone.figure("ceiling").kind == "derived"
    assert value(both, "prompt_tokens") == 2500
    (row,) = alone.table("levers").rows
    assert tuple(row)[:2] == ("HS702", "evicted")
    assert row[5] == 700


def test_scrapes_give_the_rate_between_them(tmp_path: Path) -> None:
    places = []
    for number, (queries, hits) in enumerate([(1000, 900), (3000, 1000)]):
        path = tmp_path / f"{number}.prom"
        path.write_text(
            f"vllm:prefix_cache_queries_total {queries}\nvllm:prefix_cache_hits_total {hits}\n"
            "vllm:num_requests_running 12\nvllm:num_preemptions_total 3\n"
        )
        places.append(str(path))
    assert value(told(*places), "server_hit_rate") == pytest.approx(0.05)
    assert value(told(places[0]), "server_hit_rate") == pytest.approx(0.9)
    assert value(told(*places), "server_running") == 12
    (finding,) = told(*places, target=0.5).findings
    assert finding == "The token hit rate is 5.0%, below the target of 50.0%."


def test_presets_are_the_three_of_the_field(tmp_path: Path) -> None:
    """shared/sources, 000 §5.2: 95.2 %, 83.3 % and 19.0 % of 4,200 tokens."""
    found = told(write(tmp_path / "log.jsonl", [bare(chat_usage(9, 0), "m")]))
    rates = [float(str(row[3])) for row in found.table("presets").rows]
    assert [round(rate, 3) for rate in rates] == [0.952, 0.833, 0.190]


def run(capsys: pytest.CaptureFixture[str], *places: str, **given: Any) -> tuple[int, str, str]:
    form = given.pop("form", "text")
    status = main(Given(places, **given), form=form)
    out, err = capsys.readouterr()
    return status, out, err


def test_the_text_has_four_sections_and_every_number_a_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "log.jsonl", [bare(messages_usage(10, 90))])
    status, out, _ = run(capsys, path)
    assert status == 0
    heads = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == ["What I read", "How caching does", "What it costs", "What to do next"]
    for figure in ("prompt tokens", "token hit rate", "fresh: computed", "saved"):
        (line,) = [line for line in out.splitlines() if line.strip().startswith(figure)][:1]
        assert any(kind in line for kind in ("measured", "derived", "estimated"))


def test_the_json_is_the_same_each_time_and_has_a_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [chat(words("s", 300), f"q{n}", usage=chat_usage(400, 0), time=START) for n in (1, 2)]
    path = write(tmp_path / "log.jsonl", lines)
    _, first, _ = run(capsys, path, form="json")
    _, second, _ = run(capsys, path, form="json")
    assert first == second
    assert json.loads(first)["schema_version"] == 1


def test_the_csv_has_a_line_for_each_group_and_one_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [bare(messages_usage(10, 90, 5)), bare(chat_usage(50, 0), "gpt-5.4")]
    _, out, _ = run(capsys, write(tmp_path / "log.jsonl", lines), form="csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["model"], row["prompt_tokens"], row["written_5m"]) for row in rows] == [
        (SONNET, "105", "5"),
        ("gpt-5.4", "50", "0"),
        ("all", "155", "5"),
    ]


def test_below_its_target_the_status_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "log.jsonl", [bare(messages_usage(50, 50))])
    assert run(capsys, path, target=0.4)[0] == 0
    status, out, _ = run(capsys, path, target=0.6)
    assert status == 1
    assert "! The token hit rate is 50.0%, below the target of 60.0%." in out


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b'{"usage": {', "not JSON"),
        (b"\x00\x01", "neither a JSON object nor a list"),
        (b"SQLite format 3\0" + bytes(100), "no ledger of headstart"),
        (b"# HELP go_threads x\ngo_threads 9\n", "no metrics of vLLM"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, problem: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    status, out, err = run(capsys, str(path))
    assert (status, out) == (2, "")
    assert problem in err
    assert err.count("\n") == 1
    assert err.startswith("headstart report: ")


def test_the_rest_is_reported_where_one_file_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(tmp_path / "good.jsonl", [bare(messages_usage(50, 50))])
    status, out, err = run(capsys, str(tmp_path / "gone"), good)
    assert status == 2
    assert "token hit rate" in out
    assert "gone" in err


def test_bad_prices_are_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "prices.toml"
    bad.write_text("[models")
    path = write(tmp_path / "log.jsonl", [bare(messages_usage(50, 50))])
    status, _, err = run(capsys, path, prices=bad)
    assert status == 2
    assert err.count("\n") == 1


def test_answers_without_tokens_are_abstained_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"body": {"model": "m", "messages": []}}
    status, _, err = run(capsys, write(tmp_path / "log.jsonl", [line]))
    assert status == 3
    assert "no usage, and nothing to estimate it from" in err


def test_claude_bodies_find_their_price_and_day(tmp_path: Path) -> None:
    """Prices of a named day hold for all; `--as-of` is that day."""
    prices = tmp_path / "p.toml"
    prices.write_text(
        '[[models.anthropic."claude-sonnet-4-5"]]\ninput = 1\noutput = 0\n'
        '[[models.anthropic."claude-sonnet-4-5"]]\ninput = 2\noutput = 0\nsince = 2026-10-01\n'
    )
    log = write(tmp_path / "l.jsonl", [claude("s", "q", messages_usage(1_000_000, 0), time=START)])
    assert value(told(log, prices=prices), "paid") == 1
    assert value(told(log, prices=prices, as_of=date(2026, 11, 1)), "paid") == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_requests_of_14_mb_take_little_time_and_memory(tmp_path: Path) -> None:
    """Processor time, so that a busy machine changes little."""
    system = words("instruction", 800)
    path = tmp_path / "log.jsonl"
    with path.open("w") as file:
        for number in range(1000):
            turns = [words(f"s{number // 10}t{turn}w", 170) for turn in range(number % 10 * 2 + 1)]
            line = chat(system, *turns, usage=chat_usage(5000, 0), time=START + 60 * number)
            file.write(json.dumps(line) + "\n")
    assert 13e6 < path.stat().st_size < 40e6
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from headstart.insight.report.main import Given, main\n"
        "main(Given(sys.argv[1:]), form='csv')\n"
        "print(time.process_time())\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    *_, seconds, kilobytes = done.stdout.split()
    assert int(kilobytes) < 130_000
    assert float(seconds) < 6, time.monotonic() - begun
