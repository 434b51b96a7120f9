"""What is no trace is one line that names it and exit status 2, in `plan` as in `replay`."""

import gzip
import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headstart.insight.plan.given import Given as Plan
from headstart.insight.plan.main import main as plan
from headstart.insight.replay.main import Given as Replay
from headstart.insight.replay.main import main as replay

LINES = "".join(
    json.dumps({"timestamp": at, "input_length": 512, "output_length": 1, "hash_ids": [at % 7]})
    + "\n"
    for at in range(400)
).encode()
NOISE = random.Random(1).randbytes(5000)
UNREADABLE = {
    "empty": b"",
    "empty gzip": gzip.compress(b""),
    "blank lines": b"\n \n\n",
    "a line that is cut off": LINES[:-9],
    "a gzip file that is cut off": gzip.compress(LINES)[:-20],
    "a gzip file with damage": gzip.compress(LINES)[:300] + bytes(40) + gzip.compress(LINES)[340:],
    "a gzip file of which only the magic bytes are left": gzip.compress(LINES)[:2],
    "noise": NOISE,
    "noise, zipped": gzip.compress(NOISE),
    "zeros": bytes(5000),
    "UTF-16": LINES.decode().encode("utf-16"),
    "a picture": b"\x89PNG\r\n\x1a\n" + NOISE,
    "a database": b"SQLite format 3\x00" + NOISE,
    "a table": b"timestamp,input_length\n0,512\n",
    "a page": b"<!doctype html>\n<p>Not found</p>\n",
    "another JSON": b'{"name": "llama", "layers": 32}\n',
    "a JSON list": b"[1, 2, 3]\n",
    "brackets without end": b"[" * 100_000,
    "a line of another recording": LINES + b'{"chat_id": 1}\n',
    "numbers out of range": LINES.replace(b"512", b"1e999", 1),
    "a kvt header alone": b'{"kvt": 1, "block": 16}\n',
}


def run_plan(path: Path) -> int:
    return plan(Plan(model="llama-3-8b", trace=path), form="text", plot=None)


def run_replay(path: Path) -> int:
    given = Replay(
        traces=[path],
        policies=["worth"],
        capacities=["10%"],
        now=datetime(2026, 11, 30, tzinfo=UTC),
    )
    return replay(given, form="text", plot=None)


commands = pytest.mark.parametrize(
    ("name", "run"), [("plan", run_plan), ("replay", run_replay)], ids=["plan", "replay"]
)


def said(capsys: pytest.CaptureFixture[str], command: str, path: Path, status: int) -> str:
    """The one line that a command wrote."""
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"headstart {command}: ")
    assert path.name in line
    assert line.isprintable()
    assert len(line) < 200 + len(str(path))
    return line


@commands
@pytest.mark.parametrize("blank", [False, True])
def test_a_recording_of_nothing_is_said_to_be_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, run: Callable[[Path], int],
    blank: bool,
) -> None:  # fmt: skip
    path = tmp_path / "trace"
    path.write_bytes(b"\n \n" if blank else b"")
    assert "empty" in said(capsys, name, path, run(path))


@commands
@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_file_that_is_no_trace_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, run: Callable[[Path], int],
    kind: str,
) -> None:  # fmt: skip
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(UNREADABLE[kind])
    said(capsys, name, path, run(path))


@commands
def test_a_folder_and_nothing_at_all_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, run: Callable[[Path], int]
) -> None:
    assert "directory" in said(capsys, name, tmp_path, run(tmp_path))
    absent = tmp_path / "absent.jsonl"
    assert "No such file" in said(capsys, name, absent, run(absent))


@commands
def test_a_file_that_may_not_be_read_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, run: Callable[[Path], int]
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(LINES)
    run(path)  # Whoever loses root's rights can't import any more.
    capsys.readouterr()
    path.chmod(0)
    with without_roots_rights():
        status = run(path)
    assert "Permission denied" in said(capsys, name, path, status)


@contextmanager
def without_roots_rights() -> Iterator[None]:
    """Root may read anything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
