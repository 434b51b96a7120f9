"""`headstart bench` as a process of its own: what it prints, writes and returns."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BENCH = (sys.executable, "-c", "from headstart.cli import main; main()", "bench")


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BENCH, *flags], capture_output=True, text=True, timeout=120)


def test_tables_go_to_stdout_and_progress_to_stderr(serve: Any) -> None:
    done = run("--url", serve().url, "--quick", "--scenario", "d,E", "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tiny at http://127.0.0.1")
    assert "seed 5" in done.stdout
    assert "D. Decode speed" in done.stdout
    assert "E. Exact repeat of 7000 tokens" in done.stdout
    assert "A. TTFT" not in done.stdout
    assert done.stderr.splitlines() == ["D: warming up", "E: warming up"]


def test_markdown_is_printed_on_request(serve: Any) -> None:
    done = run("--url", serve().url, "--quick", "--scenario", "E", "--markdown")
    assert "| first ms | repeat ms | 8-token prompt ms |" in done.stdout


def test_the_json_file_has_facts_rows_and_every_sample_but_not_the_key(
    serve: Any, tmp_path: Path
) -> None:
    file = tmp_path / "results" / "a.json"
    flags = ("--quick", "--scenario", "A", "--repeats", "2", "--api-key", "secret-key")
    run("--url", serve().url, *flags, "--json", str(file))
    text = file.read_text()
    assert "secret-key" not in text
    found = json.loads(text)
    assert found["schema"] == "headstart-bench/1"
    assert found["machine"]["cores"] >= 1
    assert set(found["load_average"]) == {"before", "after"}
    # Two points, two rounds of cold, warm and repeat, and a control each.
    assert len(found["samples"]) == 2 * (2 * 3 + 1)
    assert all(sample["ttft"] > 0 for sample in found["samples"])
    rows = found["scenarios"]["A"]["rows"]
    assert [(row["shared"], row["new"]) for row in rows] == [(1000, 200), (4000, 200)]
    assert rows[1]["cold"]["n"] == 2


def test_a_failed_scenario_is_told_and_fails_the_command(serve: Any) -> None:
    done = run("--url", serve(context=4096).url, "--quick", "--scenario", "D,E")
    assert done.returncode == 1
    assert "! E failed: the endpoint answered 400" in done.stdout
    assert "D. Decode speed" in done.stdout


def test_an_endpoint_that_is_not_there_is_a_message_and_not_a_traceback(closed_url: str) -> None:
    done = run("--url", closed_url)
    assert done.returncode == 1
    assert "headstart serve" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_scenario_is_refused_with_the_known_ones() -> None:
    done = run("--scenario", "A,X")
    assert done.returncode == 2
    assert "no scenario X" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="finds the child in /proc")
def test_a_terminated_benchmark_takes_its_server_with_it() -> None:
    with subprocess.Popen([*BENCH, "--scenario", "D"], stderr=subprocess.DEVNULL) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        server = _wait_for(children.read_text).split()[0]
        process.terminate()
        assert process.wait(30) == 130
    assert not Path(f"/proc/{server}").exists()


def _wait_for(read: Callable[[], str]) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if found := read():
            return found
        time.sleep(0.01)
    raise TimeoutError
