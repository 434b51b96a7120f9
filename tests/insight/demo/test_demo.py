"""`headstart demo`: every step runs, is the same each time, and its files are for trying."""

import json
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.cli import COMMANDS
from headstart.insight.asked.source import read_requests
from headstart.insight.demo.main import main
from headstart.insight.demo.steps import STEPS
from headstart.insight.demo.traffic import APPS


def test_the_tour_takes_less_than_five_seconds_and_opens_no_connection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    began = time.process_time()  # What else this machine does is not ours.
    assert main(tmp_path, "json") == 0
    assert time.process_time() - began < 5
    steps = {step["command"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert "HS101" in steps["headstart lint support.jsonl"]["output"]
    assert "HSC101" in steps["headstart lint-code agent.py"]["output"]
    assert steps["headstart lint healthy.jsonl"]["status"] == 0
    assert "as suggested" in steps["headstart layout support.jsonl"]["output"]


def test_traffic_is_the_same_each_time_and_another_with_another_seed() -> None:
    for app in APPS.values():
        assert app.sent() == app.sent()
        assert app.sent(1) != app.sent()


@pytest.mark.slow
def test_each_command_prints_for_a_newcomer_what_the_tour_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(tmp_path, "json")
    for step in json.loads(capsys.readouterr().out)["steps"]:
        words = shlex.split(step["command"])[1:]
        code = "from headstart.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode) == (step["output"], step["status"]), words


def test_every_step_names_a_command_that_there_is() -> None:
    for step in STEPS:
        name, command, *_ = shlex.split(step.line)
        assert name == "headstart"
        assert command in COMMANDS


def test_all_logs_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path, "text") == 0
    assert "cd there" in capsys.readouterr().out
    for name, app in APPS.items():
        assert len(list(read_requests([str(tmp_path / f"{name}.jsonl")]))) == len(app.sent())


def test_a_directory_that_cannot_be_made_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(tmp_path / "file" / "in", "text") == 2
    assert capsys.readouterr().err.count("\n") == 1
