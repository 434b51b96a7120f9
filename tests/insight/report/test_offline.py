"""No report opens a connection."""

import socket
from pathlib import Path
from typing import Any

import pytest
from tests.insight.report.logs import START, claude, messages_usage, words, write

from headstart.insight.report.main import Given, main


def test_a_report_with_prices_and_causes_opens_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    system = words("s", 2000)
    lines = [
        claude(system, f"q{n}", messages_usage(0, 0, 4000), time=START + 400 * n) for n in range(3)
    ]
    assert main(Given([write(tmp_path / "log.jsonl", lines)])) == 1
    assert "paid" in capsys.readouterr().out
