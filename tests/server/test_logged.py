"""`--request-log`: what a line of it says, over real sockets."""

import json
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from tests.server.conftest import Live, StartServer

from headstart.insight.asked.source import read_requests

CLAUDE, GPT, GEMINI = "claude-opus-5", "gpt-5.6", "gemini-2.5-flash"
ALIASES = (("anthropic", CLAUDE), ("openai", GPT), ("gemini", GEMINI), ("engine", "own"))


class Log:
    """A log that is being written."""

    def __init__(self, live: Live, path: Path) -> None:
        self.live = live
        self.path = path
        self._seen = 0

    def new(self, count: int = 1) -> list[dict[str, Any]]:
        """The lines since the last time, once there are `count`."""
        end = monotonic() + 10
        while self.path.read_bytes().count(b"\n") < self._seen + count:
            assert monotonic() < end
            sleep(0.02)
        lines = self.path.read_text().splitlines()[self._seen :]
        self._seen += len(lines)
        assert len(lines) == count
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def log(start_real: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder = tmp_path_factory.mktemp("log")
    (folder / "keys").write_text("ka alice\nkb bob\n")
    path = folder / "requests.jsonl"
    live = start_real(
        aliases=ALIASES, api_keys_file=str(folder / "keys"), request_log=str(path), now=lambda: 9.5
    )
    return Log(live, path)


CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Say it."}]}


@pytest.mark.parametrize(
    ("path", "body", "usage"),
    [
        ("/v1/chat/completions", {"model": "tiny", **CHAT, "max_tokens": 3}, "usage"),
        ("/chat/completions", {"model": "tiny", **CHAT, "max_tokens": 3}, "usage"),
        ("/v1/completions", {"model": GPT, "prompt": "Say it.", "max_tokens": 3}, "usage"),
        ("/v1/responses", {"model": GPT, "input": "Say it.", "max_output_tokens": 16}, "usage"),
        ("/v1/messages", {"model": CLAUDE, **CHAT, "max_tokens": 3}, "usage"),
        (
            f"/v1beta/models/{GEMINI}:generateContent",
            {"contents": [{"parts": [{"text": "Say it."}]}], "generationConfig": {}},
            "usageMetadata",
        ),
    ],
)
def test_every_dialect_logs_the_body_the_tokens_and_the_usage_that_it_told(
    log: Log, path: str, body: dict[str, Any], usage: str
) -> None:
    headers = {"authorization": "Bearer ka", "anthropic-version": "2023-06-01"}
    with log.live.http(headers=headers) as http:
        answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    (line,) = log.new()
    assert line["body"] == body
    assert line["url"] == path
    assert line["response"] == {usage: answer.json()[usage]}
    assert (line["tenant"], line["time"], line["part"]) == ("alice", 9.5, 0)
    account = line["account"]
    assert account["prompt"] == len(line["tokens"])
    assert account["output"] == len(line["output"])
    assert account["fresh"] + account["read"] + sum(account["written"].values()) == len(
        line["tokens"]
    )
    assert answer.headers["x-headstart-cache"].startswith(f"hit={line['cached']};")
    assert line["reason"] in ("below_minimum", answer.headers["x-headstart-cache"].split("=")[-1])
    assert line["stop"] in ("stop", "length")
    assert 0 < line["ttft"] < 60


def test_a_streamed_answer_is_logged_as_a_whole_one_is(log: Log) -> None:
    body = {"model": GPT, **CHAT, "max_tokens": 4, "seed": 1, "logit_bias": {"7": 100}}
    whole = log.live.post("/v1/chat/completions", "ka", **body)
    streamed = log.live.post("/v1/chat/completions", "ka", **body, stream=True)
    assert streamed.status_code == 200
    one, two = log.new(2)
    assert one["output"] == two["output"] == [7, 7, 7, 7]
    assert one["tokens"] == two["tokens"]
    assert one["id"] == whole.json()["id"]
    assert one["response"]["usage"]["completion_tokens"] == 4
    assert two["response"]["usage"]["prompt_tokens"] == len(two["tokens"])


def test_the_bytes_of_a_body_are_kept_but_for_breaks_between_lines(log: Log) -> None:
    body = '{"messages":\r\n  [{"content": "a\\nb", "role": "user"}],\n"model": "tiny",  "n":1}'
    with log.live.http(headers={"authorization": "Bearer ka"}) as http:
        http.post("/v1/chat/completions", content=body)
    log.new()
    raw = log.path.read_text().splitlines()[-1]
    assert body.replace("\r", " ").replace("\n", " ") in raw


def test_of_several_prompts_each_has_its_line_and_the_first_tells_of_all(log: Log) -> None:
    prompts = [[5, 6, 7, 8], [9, 10, 11]]
    log.live.post("/v1/completions", "kb", model="tiny", prompt=prompts, max_tokens=2, n=2)
    one, two = log.new(2)
    assert [one["tokens"], two["tokens"]] == prompts
    assert [one["part"], two["part"]] == [0, 1]
    assert one["id"] == two["id"]
    assert one["account"]["prompt"] == 7
    assert not {"account", "body", "response", "url"} & two.keys()
    assert (one["tenant"], two["tenant"]) == ("bob", "bob")


def test_a_clients_hints_and_walls_stand_beside_the_body(log: Log) -> None:
    hints = {"session": "s1", "ended": True, "expected_gap": 4.5}
    log.live.post(
        "/v1/completions",
        "ka",
        model="tiny",
        prompt=[5, 6],
        max_tokens=1,
        cache_hints=hints,
        cache_salt="pepper",
    )
    (line,) = log.new()
    assert {name: line[name] for name in hints} == hints
    assert (line["salt"], line["adapter"]) == ("pepper", None)


def test_warming_is_logged_without_an_account(log: Log) -> None:
    prompts = [{"tokens": [21, 22, 23]}, {"tokens": [31, 32]}]
    log.live.post("/cache/warm", "ka", prompts=prompts)
    one, two = log.new(2)
    assert [one["tokens"], two["tokens"]] == [[21, 22, 23], [31, 32]]
    assert (one["output"], one["body"], one["url"]) == ([], {"prompts": prompts}, "/cache/warm")
    assert "account" not in one


def test_a_cached_content_is_logged_as_it_is_computed(log: Log) -> None:
    body = {"model": "models/own", "contents": [{"parts": [{"text": "Some document."}]}]}
    answer = log.live.post("/v1beta/cachedContents", "ka", **body)
    assert answer.status_code == 200, answer.text
    (line,) = log.new()
    assert line["response"] == {"usageMetadata": answer.json()["usageMetadata"]}
    assert line["output"] == []
    assert len(line["tokens"]) == answer.json()["usageMetadata"]["totalTokenCount"]


def test_what_is_refused_is_not_logged(log: Log) -> None:
    assert log.live.post("/v1/completions", "ka", model="tiny").status_code == 400
    assert log.live.post("/v1/completions", "no", model="tiny", prompt="a").status_code == 401
    log.live.post("/v1/completions", "ka", model="tiny", prompt=[77, 78], max_tokens=1)
    (line,) = log.new()
    assert line["tokens"] == [77, 78]


def test_a_client_that_leaves_is_logged_as_far_as_it_came(log: Log) -> None:
    body = {"model": "tiny", "prompt": [41, 42, 43], "max_tokens": 900, "stream": True}
    with (
        log.live.http(headers={"authorization": "Bearer ka"}) as http,
        http.stream("POST", "/v1/completions", json=body | {"ignore_eos": True}) as response,
    ):
        next(response.iter_raw())
    (line,) = log.new()
    assert line["stop"] == "abort"
    assert 0 < len(line["output"]) < 900


def test_the_tools_that_read_recordings_find_every_request_once(log: Log) -> None:
    log.live.post("/v1/completions", "ka", model="tiny", prompt=["One.", "Two."], max_tokens=1)
    log.live.post("/cache/warm", "ka", tokens=[1, 2, 3])
    log.new(3)
    asked = [json.loads(line) for line in log.path.read_text().splitlines()]
    expected = [line["id"] for line in asked if "account" in line]
    found = list(read_requests([str(log.path)]))
    assert list(dict.fromkeys(each.id for each in found)) == expected
    assert {each.tenant for each in found} == {"alice", "bob"}


def test_keys_are_in_no_line(log: Log) -> None:
    with log.live.http() as http:
        path = f"/v1beta/models/{GEMINI}:generateContent?key=ka"
        answer = http.post(path, json={"contents": [{"parts": [{"text": "q"}]}]})
        assert answer.status_code == 200, answer.text
    (line,) = log.new()
    assert line["url"] == path.partition("?")[0]
    assert '"ka"' not in log.path.read_text()
    assert "=ka" not in log.path.read_text()


def test_without_the_flag_nothing_is_kept(live: Live) -> None:
    body = {"model": "tiny", "prompt": [5, 6], "max_tokens": 1}
    assert live.post("/v1/completions", **body).status_code == 200
