"""`headstart probe`: what it prints and returns, also against endpoints that fail in every way."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headstart.cli import app


def run(*flags: str) -> Result:
    return CliRunner().invoke(app, ["probe", *flags])


def test_a_cache_is_proved_and_its_cost_told_before(serve: Any) -> None:
    server = serve(prefill_seconds=0.0005)
    done = run(server.url, "--prefix", "100", "-n", "4", "--seed", "3", "--format", "json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"]["name"] in ("proved", "counted")
    assert told["setup"]["dialect"] == "openai-chat"
    assert told["setup"]["model"] == "tiny"
    assert told["figures"]["calls"]["value"] == len(server.requests) == 42
    assert "at most 42 requests, about 6,762 tokens, price unknown" in done.stderr


def test_the_cache_is_off_is_a_finding(serve: Any) -> None:
    done = run(serve(caches=False).url, "--prefix", "100", "-n", "2")
    assert done.exit_code == 1
    assert done.stdout.startswith("verdict: no_reuse")


def test_without_counters_and_without_a_difference_it_abstains(serve: Any) -> None:
    done = run(serve(reports_cached=False).url, "--prefix", "100", "-n", "1")
    assert done.exit_code == 3
    assert done.stdout.startswith("verdict: undecided")


def test_an_endpoint_that_takes_no_parts_is_asked_without_a_mark(serve: Any) -> None:
    server = serve(accepts_parts=False)
    done = run(server.url, "--prefix", "100", "-n", "1", "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["setup"]["marked"] is False


def test_over_the_budget_nothing_is_spent(serve: Any) -> None:
    server = serve()
    flags = (server.url, "--prefix", "100", "-n", "4", "--budget-tokens", "1000")
    done = run(*flags)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("headstart probe: over budget")
    assert server.requests == []
    assert run(*flags, "--yes").exit_code == 0


def test_a_budget_in_dollars_needs_a_price(serve: Any) -> None:
    done = run(serve().url, "--budget-usd", "1")
    assert done.exit_code == 2
    assert "the price is unknown" in done.stderr


def test_the_price_of_a_named_model_is_told_before(serve: Any, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('source="ours"\ndate=2026-11-30\n[models.openai.x]\ninput=1000\noutput=0\n')
    flags = ("--prefix", "100", "-n", "4", "--price", "openai/x", "--prices", str(file))
    done = run(serve().url, *flags)
    assert done.exit_code == 1
    # 42 requests of 160 tokens, written at 1.25 times $1,000 for a million.
    assert "$8.4000" in done.stderr
    assert "over budget" in done.stderr


def test_a_prefix_of_ones_own_with_a_clock_is_told_to_be_broken_by_it(
    serve: Any, tmp_path: Path
) -> None:
    file = tmp_path / "system.txt"
    file.write_text("It is {clock}. " + "Be brief and kind. " * 60)
    done = run(serve().url, "--prefix-file", str(file), "-n", "2", "--format", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"]["name"] == "broken_by_clock"


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("http://127.0.0.1:9/v1",), "no server answers"),
        (("127.0.0.1:9",), "is no URL"),
        (("{url}", "--price", "nonsense"), "is not VENDOR/MODEL"),
        (("{url}", "--prices", "/nowhere"), "/nowhere"),
        (("{url}", "--dialect", "anthropic", "--model", "x"), "answered 404"),
        (("{url}", "--prefix", "9k", "-n", "1"), "exceeds the context"),
        (("{url}", "--retention", "-n", "4"), "--samples says nothing with --retention"),
        (("{url}", "--retention", "--other-key", "k"), "--other-key says nothing with"),
        (("{url}", "--max-wait", "5m"), "--max-wait says nothing without --retention"),
        (
            ("{url}", "--dialect", "openai-responses", "--model", "m", "--output-tokens", "9"),
            "no answer of fewer than 16 tokens",
        ),
    ],
)
def test_what_cannot_run_gets_one_clear_line_and_status_2(
    serve: Any, flags: tuple[str, ...], problem: str
) -> None:
    server = serve()
    done = run(*(flag.format(url=server.url) for flag in flags))
    assert done.exit_code == 2
    assert problem in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("whole", [0, 5])
@pytest.mark.parametrize("flags", [("-n", "2"), ("--retention", "--max-wait", "0")])
def test_an_endpoint_that_breaks_off_its_answers_gets_no_verdict(
    serve: Any, whole: int, flags: tuple[str, ...]
) -> None:
    """Also where the stream ends cleanly, as a gateway ends one whose server is gone."""
    server = serve(breaks_off=whole)
    done = run(server.url, "--prefix", "100", *flags)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "broke off its answer after the first token" in done.stderr.splitlines()[-1]


def test_what_retention_may_spend_is_what_the_budget_covers(serve: Any, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('source="ours"\ndate=2026-11-30\n[models.openai.x]\ninput=1000\noutput=0\n')
    flags = ("--retention", "--max-wait", "0", "--prefix", "100", "--prices", str(file))
    server = serve()
    done = run(server.url, *flags, "--price", "openai/x", "--format", "json")
    # $1 by default, $0.20 for each call of 160 tokens that is written: too few to find anything.
    assert done.exit_code == 1
    assert server.requests == []
    done = run(server.url, *flags, "--price", "openai/x", "--budget-usd", "5", "--format", "json")
    assert "at most 25 requests, about 4,025 tokens, $5.0000" in done.stderr
    assert done.exit_code == 0


def test_retention_is_found_within_a_budget(serve: Any) -> None:
    flags = ("--retention", "--max-wait", "0", "--prefix", "100", "--budget-tokens", "5000")
    done = run(serve().url, *flags, "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["name"] == "at_least"
