"""`headstart serve` as a process: how it starts, how it ends."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from headstart.server.gate import Gate
from headstart.server.listen import CannotListen, listen

COMMAND = (sys.executable, "-c", "from headstart.cli import main; main()", "serve")
LONG = {"model": "tiny", "prompt": "Hello", "max_tokens": 900, "ignore_eos": True, "stream": True}

pytestmark = pytest.mark.slow


class Process:
    """A server of its own, its output read as it comes."""

    def __init__(self, *arguments: str) -> None:
        self.popen = subprocess.Popen(
            (*COMMAND, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.output = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self.output += line

    def url(self) -> str:
        """The address in the banner, once it is there."""
        deadline = time.monotonic() + 60
        while not (found := re.search(r"ready at (http://\S+)", self.output)):
            assert self.popen.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.02)
        return found[1]

    def status(self, seconds: float = 30) -> int:
        """Of the exit. A process that doesn't end is killed, and the test with it."""
        try:
            return self.popen.wait(seconds)
        finally:
            self.popen.kill()
            self._reader.join()


Start = Callable[..., Process]


@pytest.fixture(scope="module")
def start(tiny_checkpoint: Callable[..., Path]) -> Iterator[Start]:
    """`start(*arguments) -> Process` on a tiny model and any free port."""
    running: list[Process] = []

    def run(*arguments: str) -> Process:
        model = ("--model", str(tiny_checkpoint("llama")), "--served-model-name", "tiny")
        sizes = ("--dtype", "float32", "--kv-memory", "8MiB", "--threads", "1", "--port", "0")
        running.append(Process(*model, *sizes, *arguments))
        return running[-1]

    yield run
    for process in running:
        process.popen.kill()
        process.popen.wait()


class Stream:
    """A long answer, read in a thread; it has begun when the constructor returns."""

    def __init__(self, url: str) -> None:
        self.lines: list[str] = []
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(url,))
        self._thread.start()
        assert self._begun.wait(30)

    def _read(self, url: str) -> None:
        with (
            httpx.Client(trust_env=False, timeout=60) as http,
            http.stream("POST", f"{url}/v1/completions", json=LONG) as response,
        ):
            for line in response.iter_lines():
                if line:
                    self.lines.append(line)
                    self._begun.set()

    def join(self) -> list[str]:
        self._thread.join(60)
        return self.lines


AGAIN = {"model": "tiny", "prompt": "Again, again, again.", "max_tokens": 3}
"""Begins with another token than LONG."""


@dataclass(frozen=True)
class Drained:
    """What was seen of a server that got SIGTERM in the middle of an answer."""

    url: str
    lines: list[str]
    refused_meanwhile: bool
    status: int
    output: str
    log: Path
    tokens: int
    """Of AGAIN, which it was asked three times before."""


@pytest.fixture(scope="module")
def drained(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Drained:
    log = tmp_path_factory.mktemp("drained") / "requests.jsonl"
    process = start("--request-log", str(log), "--no-ledger")
    url = process.url()
    with httpx.Client(trust_env=False, timeout=60, base_url=url) as http:
        answers = [http.post("/v1/completions", json=AGAIN) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    tokens = answers[0].json()["usage"]["prompt_tokens"]
    stream = Stream(url)
    process.popen.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    try:
        httpx.get(f"{url}/health", trust_env=False)
        refused = False
    except httpx.ConnectError:
        refused = True
    lines = stream.join()
    return Drained(url, lines, refused, process.status(), process.output, log, tokens)


def test_a_signal_lets_running_answers_end_and_the_exit_is_clean(drained: Drained) -> None:
    *_, last_chunk, done = drained.lines
    assert '"finish_reason":"length"' in last_chunk
    assert done == "data: [DONE]"
    assert drained.status == 0
    assert "Traceback" not in drained.output


def test_a_draining_server_takes_no_new_connections(drained: Drained) -> None:
    assert drained.refused_meanwhile


def test_the_banner_tells_the_model_its_memory_and_three_lines_for_a_client(
    drained: Drained,
) -> None:
    assert "tiny (llama), float32 on cpu" in drained.output
    assert "8 MiB hold 16,384 tokens in blocks of 16" in drained.output
    lines = drained.output.splitlines()
    begin = next(at for at, line in enumerate(lines) if "from openai import" in line)
    first, second, third = lines[begin : begin + 3]
    program = "\n".join(line.strip() for line in (first, second, third))
    assert f'base_url="{drained.url}/v1"' in program
    compile(program, "banner", "exec")


def test_answers_that_outlast_the_drain_end_with_an_error_frame(start: Start) -> None:
    process = start("--drain-seconds", "0")
    stream = Stream(process.url())
    process.popen.send_signal(signal.SIGINT)
    last = stream.join()[-1]
    assert last.startswith('data: {"error"')
    assert "stopped" in last
    assert process.status() == 0
    assert "Traceback" not in process.output


def test_a_second_signal_stops_at_once(start: Start) -> None:
    process = start()
    url = process.url()
    with (
        httpx.Client(trust_env=False) as http,
        http.stream(
            "POST", f"{url}/v1/completions", json=LONG | {"n": 32, "max_tokens": 1000}
        ) as response,
    ):
        lines = response.iter_lines()
        next(lines)
        process.popen.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        process.popen.send_signal(signal.SIGTERM)
        assert process.status(5) == 128 + signal.SIGTERM


def test_a_taken_port_is_told_before_anything_is_loaded(start: Start) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        process = start("--port", str(port))
        assert process.status() == 1
    assert f"Port {port}" in process.output.replace("\n", " ")
    assert "--port" in process.output
    assert "Loading" not in process.output
    assert "Traceback" not in process.output


def test_a_model_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    process = Process("--model", str(tmp_path / "nowhere"), "--port", "0")
    assert process.status() == 1
    assert "nowhere" in process.output.replace("\n", "")
    assert "Traceback" not in process.output


def test_an_address_of_another_machine_is_refused_with_a_way_out() -> None:
    with pytest.raises(CannotListen, match="--host"):
        listen("192.0.2.1", 0)


def test_a_claimed_port_is_claimed_before_it_is_served() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(CannotListen, match="taken"):
            listen("127.0.0.1", port)


def test_a_name_that_resolves_to_nothing_is_refused() -> None:
    with pytest.raises(CannotListen, match="no address"):
        listen("nowhere.invalid", 0)


def test_an_ipv6_address_can_be_listened_on() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listen("::1", 0) as sock:
        assert sock.family == socket.AF_INET6


def while_loading(path: str, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=Gate())
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            return await http.get(path, headers=headers)

    return asyncio.run(ask())


def test_until_the_model_is_loaded_everything_is_503() -> None:
    response = while_loading("/health")
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "server_loading"
    assert response.headers["retry-after"] == "1"
    assert response.headers["x-request-id"]


def test_until_then_anthropics_clients_are_told_that_it_is_overloaded() -> None:
    response = while_loading("/v1/models", **{"anthropic-version": "2026-10-21"})
    assert response.status_code == 529
    assert response.json()["error"]["type"] == "overloaded_error"
    assert response.headers["retry-after"] == "1"
    assert response.json()["request_id"] == response.headers["request-id"]


def test_another_file_in_place_of_the_log_is_told_before_the_model_is_loaded(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine\n")
    process = start("--request-log", str(tmp_path / "notes.txt"))
    assert process.status() == 1
    assert "holds something else already" in " ".join(process.output.split())
    assert "Loading" not in process.output
    assert (tmp_path / "notes.txt").read_text() == "mine\n"


def test_what_was_asked_is_in_the_log_when_the_server_has_ended(drained: Drained) -> None:
    """Also what was answered to its end after the signal."""
    assert drained.status == 0
    options = ("--capacity", "4096", "--reuse", "token", "--format", "json", "--policy", "worth")
    replayed = subprocess.run(
        (*COMMAND[:-1], "replay", str(drained.log), *options),
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(replayed.stdout)
    assert report["trace"]["requests"] == 4
    assert report["trace"]["prompt_tokens"] > 3 * drained.tokens
    assert report["points"][0]["hit_tokens"] == 2 * (drained.tokens - 1)
