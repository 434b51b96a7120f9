"""`headstart chat` as a process of its own, against a real socket."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from typing import Any

import pytest

from headstart.insight.turn import Turn
from headstart.insight.wire import PromptDetails, Usage

CHAT = (sys.executable, "-c", "from headstart.cli import main; main()", "chat")


def talk(url: str, typed: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CHAT, "--url", url, *flags], input=typed, capture_output=True, text=True, timeout=60
    )


def test_an_answer_is_followed_by_its_account(serve: Any) -> None:
    server = serve()
    done = talk(server.url, "hello there\n", "--max-tokens", "5")
    assert done.returncode == 0, done.stderr
    heading, answer, account = done.stdout.splitlines()
    assert heading.startswith("tiny")
    assert answer == " w0 w1 w2 w3 w4"
    # The counterpart counts words and the role as tokens: user hello there.
    assert re.fullmatch(
        r"TTFT \d+ ms · prompt 3 tokens, 0 reused \(0%\) · generated 5 · [\d.]+ tok/s", account
    )


def test_stab_17_a_second_turn_sends_the_history_and_shows_what_was_reused(serve: Any) -> None:
    server = serve()
    first = "one two three four five six seven eight nine ten eleven twelve thirteen"
    done = talk(server.url, f"{first}\nagain\n", "--max-tokens", "4", "--system", "be nice")
    assert server.requests[1]["messages"] == [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": first},
        {"role": "assistant", "content": " w0 w1 w2 w3"},
        {"role": "user", "content": "again"},
    ]
    # 3 + 14 tokens, then 5 + 2 more; the counterpart reuses whole blocks of 16.
    assert "prompt 24 tokens, 16 reused (67%)" in done.stdout


def test_reset_starts_over_but_keeps_the_system_prompt(serve: Any) -> None:
    server = serve()
    talk(server.url, "one\n/reset\ntwo\n/exit\nthree\n", "--system", "be nice")
    assert [body["messages"] for body in server.requests] == [
        [{"role": "system", "content": "be nice"}, {"role": "user", "content": question}]
        for question in ("one", "two")
    ]


def test_flags_reach_the_request_and_unset_ones_leave_the_servers_default(serve: Any) -> None:
    server = serve()
    talk(server.url, "hi\n", "--model", "other", "--max-tokens", "3", "--temperature", "0")
    talk(server.url, "hi\n", "--max-tokens", "3")
    one, two = server.requests
    assert (one["model"], one["max_tokens"], one["temperature"]) == ("other", 3, 0)
    assert two["model"] == "tiny"
    assert "temperature" not in two


def test_a_server_that_is_not_there_is_named_with_the_way_out(closed_url: str) -> None:
    done = talk(closed_url, "hi\n")
    assert done.returncode == 1
    assert f"no server answers at {closed_url}" in done.stderr
    assert "headstart serve" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_turn_is_explained_and_forgotten(serve: Any) -> None:
    server = serve(context=20)
    done = talk(server.url, f"{'long ' * 30}\nhi\n", "--max-tokens", "4")
    assert "exceeds the context" in done.stdout
    assert server.requests[1]["messages"] == [{"role": "user", "content": "hi"}]


def test_ctrl_c_stops_the_answer_closes_the_connection_and_forgets_the_turn(serve: Any) -> None:
    server = serve(endless=True, decode_seconds=0.01)
    with subprocess.Popen(
        [*CHAT, "--url", server.url, "--max-tokens", "4"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, interrupts are ignored by inheritance.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("first\n")
        process.stdin.flush()
        seen = ""
        while "w3" not in seen:
            seen += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert server.disconnected.wait(10)
        server.script.endless = False
        rest, _ = process.communicate("second\n", timeout=30)
    assert process.returncode == 0
    assert "cancelled" in rest
    assert server.requests[1]["messages"] == [{"role": "user", "content": "second"}]


def test_at_a_terminal_there_is_a_prompt_and_ctrl_d_leaves(serve: Any) -> None:
    server = serve()
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*CHAT, "--url", server.url, "--max-tokens", "2"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as process:
        os.close(theirs)
        terminal = Terminal(ours)
        terminal.read_until("> ")
        os.write(ours, b"hello\n")
        shown = terminal.read_until("tok/s")
        terminal.read_until("> ")
        os.write(ours, b"\x04")
        assert process.wait(30) == 0
    os.close(ours)
    assert " w0 w1" in shown


class Terminal:
    """Reads a pty piece by piece: what lies behind a mark is kept for the next read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = ""

    def read_until(self, mark: str) -> str:
        while mark not in self._unread:
            ready, _, _ = select.select([self._descriptor], [], [], 30)
            assert ready, f"{mark!r} never came after {self._unread!r}"
            self._unread += os.read(self._descriptor, 1024).decode()
        shown, _, self._unread = self._unread.partition(mark)
        return shown + mark


@pytest.mark.parametrize(
    ("usage", "account"),
    [
        (
            Usage(2400, 11, PromptDetails(1800)),
            "TTFT 250 ms · prompt 2,400 tokens, 1,800 reused (75%) · generated 11 · 20.0 tok/s",
        ),
        (
            Usage(2400, 11),
            "TTFT 250 ms · prompt 2,400 tokens, reuse not reported · generated 11 · 20.0 tok/s",
        ),
        (Usage(), "TTFT 250 ms · prompt tokens not reported · generated 6 · 10.0 tok/s"),
    ],
)
def test_an_account_says_what_it_knows_and_what_it_does_not(usage: Usage, account: str) -> None:
    turn = Turn("text", ttft=0.25, last=0.75, shown=6, usage=usage)
    assert turn.account() == account


def test_a_single_token_has_no_speed() -> None:
    turn = Turn("a", ttft=0.5, last=0.5, shown=1, usage=Usage(8, 1, PromptDetails(0)))
    assert turn.account() == "TTFT 500 ms · prompt 8 tokens, 0 reused (0%) · generated 1"
