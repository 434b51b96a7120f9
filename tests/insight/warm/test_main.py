"""The command, end to end: statuses, formats, and what it says when it can't."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.insight.warm.clock import Clock
from tests.insight.warm.test_warming import answer, chat

from headstart.insight.warm.main import FINDING, FINE, IMPOSSIBLE, UNKNOWN, Given, main

BODY = {"messages": [], "cache_control": {"type": "ephemeral"}}


class Endpoint:
    """Answers each call with the next of `answers` (status, body), the last again and again."""

    def __init__(self, *answers: tuple[int, bytes], **headers: str) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        seen = self.requests
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                status, data = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def endpoint() -> Iterator[Callable[..., Endpoint]]:
    opened: list[Endpoint] = []

    def start(*answers: tuple[int, bytes], **headers: str) -> Endpoint:
        opened.append(Endpoint(*answers, **headers))
        return opened[-1]

    yield start
    for each in opened:
        each.server.shutdown()
        each.server.server_close()


@pytest.fixture
def warm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(
        url: str = "http://127.0.0.1:9",
        form: Any = "json",
        given: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
        **plan: Any,
    ) -> tuple[int, str, str]:
        base = {"endpoint": url, "dialect": "anthropic", "model": "claude-opus-5", "uses": 2}
        prompts = [{"body": BODY, "tokens": 4000}]
        path = tmp_path / "plan.yaml"
        path.write_text(json.dumps({**base, "prompts": prompts, **plan}))
        clock = Clock()
        asked = Given(path, **(given or {}))
        status = main(asked, form=form, environment=environment or {}, now=clock, sleep=clock.sleep)
        out, err = capsys.readouterr()
        return status, out, err

    return run


Warm = Callable[..., tuple[int, str, str]]
Start = Callable[..., Endpoint]


def test_a_dry_run_sends_nothing_and_says_what_it_would_cost(warm: Warm) -> None:
    status, out, err = warm(given={"dry": True}, every="6m")
    told = json.loads(out)
    (prompt,) = told["prompts"]
    assert (status, err, prompt["calls"], prompt["sent"]) == (FINE, "", 0, [])
    assert (told["schema_version"], told["unit"], told["dry_run"]) == (1, "USD", True)
    # $5 a million: 4,000 tokens written at 1.25, read at 0.1.
    assert (prompt["first_call"], prompt["later_call"]) == ("0.025", "0.002")
    assert prompt["kinds"]["first_call"] == "estimated"
    assert prompt["calls_needed"] == 2
    assert out == warm(given={"dry": True}, every="6m")[1], "the same run is the same text"


@pytest.mark.parametrize("every", ["5h", "10s"])
def test_what_does_not_pay_is_a_finding(warm: Warm, every: str) -> None:
    status, out, _ = warm(given={"dry": True}, every=every)
    assert status == FINDING
    assert len(json.loads(out)["findings"]) == 1


@pytest.mark.parametrize(
    ("every", "advice"),
    [
        ("10m", ["prompt 1: a lifetime of 1h, left alone, is cheapest"]),
        ("2h", ["prompt 1: a lifetime of 1h, kept by calls, is cheapest"]),
        ("6m", ["prompt 1: a lifetime of 1h, left alone, is cheapest"]),
        ("3m", ["prompt 1: a lifetime of 5m, left alone, is cheapest"]),
    ],
)
def test_a_cheaper_lifetime_is_advised(warm: Warm, every: str, advice: list[str]) -> None:
    _, out, _ = warm(given={"dry": True}, uses=10, every=every)
    assert json.loads(out)["advice"] == advice
    assert f"> {advice[0]}" in warm(given={"dry": True}, uses=10, every=every, form="text")[1]


def test_where_calls_are_cheapest_there_is_no_advice(warm: Warm) -> None:
    """Three uses: the hour's write costs more than a few reads."""
    _, out, _ = warm(given={"dry": True}, uses=3, every="6m")
    told = json.loads(out)
    cheapest = told["prompts"][0]["choices"][0]
    assert (cheapest["lifetime"], cheapest["calls"]) == ("5m", 4)
    assert told["advice"] == []


def test_a_dry_run_warns_of_prompts_below_the_minimum(warm: Warm) -> None:
    prompts = [{"body": BODY, "tokens": 400}]
    status, out, _ = warm(given={"dry": True}, prompts=prompts)
    assert status == FINDING
    assert json.loads(out)["findings"] == ["prompt 1: some 400 tokens are below the minimum, 512"]


def test_a_dry_run_says_that_the_key_it_names_is_not_there(warm: Warm) -> None:
    """Nothing is sent, so the rest is told all the same."""
    dry = {"dry": True}
    status, out, err = warm(given=dry, every="6m", key_env="NO_SUCH_KEY")
    problem = "the environment has no NO_SUCH_KEY, which the plan names as its key"
    assert (status, err, json.loads(out)["findings"]) == (FINDING, "", [problem])
    assert f"! {problem}" in warm(given=dry, every="6m", key_env="NO_SUCH_KEY", form="text")[1]
    there = warm(given=dry, every="6m", key_env="K", environment={"K": "sk"})
    assert (there[0], json.loads(there[1])["findings"]) == (FINE, [])


@pytest.mark.parametrize(
    ("budget", "finding"),
    [
        # 4,000 tokens written for $0.025, then read twice until the last use, for $0.002 each.
        ({"budget_usd": 0.0289}, "its calls would take $0.029000: --budget-usd would end it"),
        ({"budget_usd": 0.0290}, None),
        ({"budget_tokens": 11_999}, "its calls would take 12,000 tokens: --budget-tokens would"),
        ({"budget_tokens": 12_000}, None),
    ],
)
def test_a_dry_run_says_whether_a_budget_covers_its_calls(
    warm: Warm, budget: dict[str, Any], finding: str | None
) -> None:
    status, out, _ = warm(given={"dry": True, **budget}, every="6m")
    found = json.loads(out)["findings"]
    assert status == (FINE if finding is None else FINDING)
    assert len(found) == (finding is not None)
    assert finding is None or found[0].startswith(finding)


def test_a_dry_run_says_how_many_calls_a_time_limit_leaves(warm: Warm) -> None:
    """A call every 285 s: until 12 minutes are over two are needed, within 300 s one is sent."""
    status, out, _ = warm(given={"dry": True, "limit": "300s"}, every="6m")
    assert status == FINE
    assert json.loads(out)["notes"] == [
        "prompt 1: --for leaves time for 2 of 3 calls until the last use"
    ]
    budget = {"dry": True, "limit": "300s", "budget_usd": 0.027}
    assert json.loads(warm(given=budget, every="6m")[1])["findings"] == []


def test_the_key_comes_from_the_environment_and_headers_from_the_plan(
    warm: Warm, endpoint: Start
) -> None:
    server = endpoint((200, answer(4000)))
    extra = {"anthropic-beta": "x", "anthropic-version": "2026-10-21"}
    status, out, err = warm(server.url, environment={"K": "sk-secret"}, key_env="K", headers=extra)
    assert status == FINE
    path, headers, body = server.requests[0]
    assert (path, headers["x-api-key"]) == ("/v1/messages", "sk-secret")
    assert extra.items() <= headers.items()
    assert body == {"model": "claude-opus-5", **BODY, "max_tokens": 0}
    assert "sk-secret" not in out + err


def test_a_key_that_is_not_there_is_one_line(warm: Warm) -> None:
    status, out, err = warm(key_env="NOBODY_HAS_IT")
    assert (status, out) == (IMPOSSIBLE, "")
    assert err == (
        "headstart warm: the environment has no NOBODY_HAS_IT, which the plan names as its key\n"
    )


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-secrét"])
def test_a_key_that_cannot_be_sent_is_told_without_it(warm: Warm, key: str) -> None:
    status, out, err = warm(environment={"K": key}, key_env="K")
    assert (status, out) == (IMPOSSIBLE, "")
    assert "what K holds is no key" in err
    assert "secr" not in err


def test_a_refusal_is_told_and_nothing_was_warmed(warm: Warm, endpoint: Start) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": "bad key"}}
    server = endpoint((401, json.dumps(error).encode()))
    status, out, _ = warm(server.url)
    assert status == IMPOSSIBLE
    assert json.loads(out)["findings"] == ["prompt 1: 401: bad key"]
    assert len(server.requests) == 1


def test_nobody_at_the_endpoint_is_tried_for_some_minutes_and_told(warm: Warm) -> None:
    status, out, err = warm("http://127.0.0.1:9")
    assert status == IMPOSSIBLE
    assert json.loads(out)["prompts"][0]["ended"] == "unreachable"
    assert err.count("no answer from http://127.0.0.1:9") == 9


def test_an_overloaded_endpoint_is_asked_again_when_it_says(warm: Warm, endpoint: Start) -> None:
    server = endpoint((529, b"{}"), (200, answer(4000)), retry_after="40")
    status, out, err = warm(server.url)
    assert status == FINE
    assert "again in 40 s" in err
    assert json.loads(out)["prompts"][0]["ended"] == "break-even"


def test_an_unknown_price_keeps_no_budget_of_dollars(warm: Warm) -> None:
    given = {"dry": True, "budget_usd": 1.0}
    status, _, err = warm(given=given, model="claude-nobody-9")
    assert status == UNKNOWN
    assert "--budget-tokens" in err
    status, out, _ = warm(given={"dry": True}, model="claude-nobody-9")
    assert (status, json.loads(out)["unit"]) == (FINE, "input tokens")


def test_counters_that_are_not_told_prove_nothing(warm: Warm, endpoint: Start) -> None:
    server = endpoint((200, chat(None)))
    prompts = [{"body": {"messages": []}, "tokens": 4000}]
    status, out, _ = warm(server.url, dialect="openai-chat", model="gpt-5", prompts=prompts)
    assert status == UNKNOWN
    assert json.loads(out)["prompts"][0]["ended"] == "not told"


def test_a_vendor_without_rules_is_named(warm: Warm) -> None:
    status, _, err = warm(vendor="acme")
    assert status == IMPOSSIBLE
    assert "no rules for the vendor 'acme': there are anthropic," in err


def test_our_server_needs_to_be_told_a_lifetime(warm: Warm) -> None:
    prompts = [{"body": {"tokens": [1, 2]}}]
    status, _, err = warm(dialect="headstart", model="tiny", prompts=prompts)
    assert status == IMPOSSIBLE
    assert "give its 'lifetime'" in err


def test_the_shortest_of_the_bodys_lifetimes_is_kept(warm: Warm) -> None:
    def lives(**more: Any) -> tuple[str, float]:
        (prompt,) = json.loads(warm(given={"dry": True}, **more)[1])["prompts"]
        return prompt["lifetime"], prompt["lifetime_seconds"]

    def body(*ttls: str) -> list[dict[str, Any]]:
        system = [
            {"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": ttl}}
            for ttl in ttls
        ]
        return [{"body": {"system": system}, "tokens": 4000}]

    assert lives() == ("5m", 300)
    assert lives(prompts=body("1h")) == ("1h", 3600)
    assert lives(prompts=body("1h", "5m")) == ("5m", 300)
    assert lives(prompts=body("1h"), lifetime="5m") == ("5m", 300)
    assert lives(lifetime="200s") == ("5m", 200)


def test_csv_has_a_line_for_each_prompt_and_says_how_numbers_are_known(warm: Warm) -> None:
    prompts = [{"name": name, "body": BODY, "tokens": 4000} for name in "ab"]
    _, out, _ = warm(form="csv", given={"dry": True}, prompts=prompts)
    head, *rows = csv.reader(io.StringIO(out))
    assert [row[0] for row in rows] == ["a", "b"]
    assert "prefix_tokens (estimated)" in head
    assert "calls (measured)" in head


def test_text_tells_people_what_was_sent_and_found(warm: Warm, endpoint: Start) -> None:
    server = endpoint((200, answer(0, 4000)), (200, answer(4000)), (200, answer(1000, 3000)))
    status, out, _ = warm(server.url, form="text")
    assert status == FINDING
    assert "claude-opus-5 at http://127.0.0.1" in out
    assert "! prompt 1: 3,000 of 4,000 tokens were gone 285 s after the call before" in out
    assert "4,000 (m)" in out


MAIN = "from headstart.cli import main; main()"


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("dialect: anthropic\n")
    ran = subprocess.run(
        [sys.executable, "-c", MAIN, "warm", str(tmp_path / "plan.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (IMPOSSIBLE, "")
    assert ran.stderr.startswith("headstart warm: ")
    assert ran.stderr.count("\n") == 1
