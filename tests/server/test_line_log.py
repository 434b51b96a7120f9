"""The file behind `--request-log`."""

import errno
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headstart.server import line_log
from headstart.server.line_log import LineLog, LogError

BEGIN = b'{"n":'
Open = Callable[..., LineLog]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


@pytest.fixture
def begin(path: Path) -> Iterator[Open]:
    opened: list[LineLog] = []

    def open_(**options: Any) -> LineLog:
        opened.append(LineLog(path, BEGIN, **{"interval": 0.01, **options}))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def line(number: int) -> Callable[[], bytes]:
    return lambda: b'{"n":%d}' % number


def lines(*numbers: int) -> bytes:
    return b"".join(line(number)() + b"\n" for number in numbers)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_lines_come_in_their_order_and_only_the_owner_reads_them(path: Path, begin: Open) -> None:
    log = begin()
    for number in range(100):
        log.add(line(number), 10)
    log.close()
    assert path.read_bytes() == lines(*range(100))
    assert path.stat().st_mode & 0o777 == 0o600
    assert log.counts.kept == 100


def test_lines_of_many_threads_are_all_kept_whole(path: Path, begin: Open) -> None:
    log = begin()

    def add(thread: int) -> None:
        for number in range(100):
            log.add(line(1000 * thread + number), 10)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    expected = lines(*(1000 * t + n for t in range(4) for n in range(100)))
    assert sorted(path.read_bytes().splitlines()) == sorted(expected.splitlines())


def test_adding_builds_nothing_and_does_not_wait_for_the_disk(path: Path, begin: Open) -> None:
    built = threading.Event()
    log = begin(interval=0.3)

    def slow() -> bytes:
        built.set()
        return line(1)()

    log.add(slow, 10)
    assert not built.is_set()
    assert path.read_bytes() == b""
    wait_until(lambda: path.read_bytes() == lines(1))


def test_a_log_goes_on_where_it_ended_and_takes_back_half_a_line(path: Path, begin: Open) -> None:
    path.write_bytes(lines(1, 2) + b'{"n":3,"torn')
    path.chmod(0o644)
    log = begin()
    log.add(line(4), 10)
    log.close()
    assert path.read_bytes() == lines(1, 2, 4)
    assert path.stat().st_mode & 0o777 == 0o600


def test_half_a_line_may_be_longer_than_what_is_read_at_once(
    path: Path, begin: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_log, "PIECE", 7)
    path.write_bytes(lines(1) + b'{"n":2,' + b"x" * 50)
    begin().close()
    assert path.read_bytes() == lines(1)


def test_a_first_line_that_was_cut_short_is_taken_back(path: Path, begin: Open) -> None:
    path.write_bytes(b'{"n')
    begin().close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize("content", [b"mine\n", b"mine", b'{"m":1}\n'])
def test_another_file_is_left_alone(path: Path, begin: Open, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o644)
    with pytest.raises(LogError, match="something else"):
        begin()
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o644


def test_two_servers_cannot_write_to_one(begin: Open) -> None:
    first = begin()
    with pytest.raises(LogError, match="Another server"):
        begin()
    first.close()
    begin()


def test_a_place_that_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "log", Path("/dev/null")):
        with pytest.raises(LogError, match="Can't write"):
            LineLog(place, BEGIN)


def test_a_full_disk_loses_lines_and_leaves_no_half_ones(
    path: Path, begin: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full, write = threading.Event(), os.write

    def short(handle: int, data: Any) -> int:
        if not full.is_set():
            return write(handle, data)
        if len(data) > 4:
            return write(handle, data[:4])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", short)
    log = begin()
    log.add(line(1), 10)
    wait_until(lambda: log.counts.kept == 1)
    full.set()
    with caplog.at_level(logging.WARNING):
        log.add(line(2), 10)
        log.add(line(3), 10)
        wait_until(lambda: log.counts.lost == 2)
    assert caplog.text.count("No space left") == 1
    assert path.read_bytes() == lines(1)
    full.clear()
    log.add(line(4), 10)
    log.close()
    assert path.read_bytes() == lines(1, 4)


def test_what_would_fill_memory_is_lost_and_counted(path: Path, begin: Open) -> None:
    log = begin(interval=60, most_waiting=100)
    log.add(line(1), 1000)  # Alone, one of any size has room.
    log.add(line(2), 10)
    log.close()
    assert path.read_bytes() == lines(1)
    assert log.counts.lost == 1


def test_a_line_that_cannot_be_built_is_lost_alone(path: Path, begin: Open) -> None:
    log = begin()
    log.add(lambda: b"%d" % (1 // 0), 10)
    log.add(line(2), 10)
    log.close()
    assert path.read_bytes() == lines(2)
    assert log.counts.lost == 1


def test_a_killed_process_loses_at_most_the_last_second(path: Path) -> None:
    script = textwrap.dedent(f"""
        import time
        from pathlib import Path
        from headstart.server.line_log import LineLog
        log = LineLog(Path({str(path)!r}), {BEGIN!r})
        for number in range(10**6):
            log.add((lambda n: lambda: b'{{"n":%d}}' % n)(number), 10)
            print(number, time.monotonic(), flush=True)
            time.sleep(0.002)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    times: list[float] = []
    for told in process.stdout:
        times.append(float(told.split()[1]))
        if times[-1] - times[0] > 1.5:
            process.send_signal(signal.SIGKILL)
            break
    times += [float(told.split()[1]) for told in process.stdout if told.endswith("\n")]
    process.wait()
    process.stdout.close()
    kept = path.read_bytes().count(b"\n")
    assert path.read_bytes() == lines(*range(kept))
    assert kept < len(times), "nothing was waiting"
    assert times[-1] - times[kept] < 1.0
