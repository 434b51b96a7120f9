import gzip
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from headstart.insight import lines
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files import values
from headstart.insight.asked.source import read_file, read_requests

BODY: dict[str, Any] = {"model": "gpt-6-sol", "messages": [{"role": "user", "content": "a"}]}
LINE = json.dumps(BODY).encode() + b"\n"


def texts(path: Path) -> list[str]:
    return [asked.pieces[-1].text for asked in read_file(path)]


def body(text: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        body("a") + b"\n" + body("b") + b"\n",
        body("a") + b"\r\n\r\n" + body("b"),
        b"\xef\xbb\xbf" + body("a") + b"\n" + body("b"),
        b"[" + body("a") + b"," + body("b") + b"]",
        json.dumps([json.loads(body("a")), json.loads(body("b"))], indent=2).encode(),
        b"\xef\xbb\xbf"
        + json.dumps([json.loads(body("a")), json.loads(body("b"))], indent=2)
        .replace("\n", "\r\n")
        .encode(),
        gzip.compress(body("a") + b"\n" + body("b")),
    ],
    ids=["lines", "crlf", "bom", "list", "indented", "indented-crlf-bom", "gzip"],
)
def test_bodies_are_read_however_they_are_written(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    assert texts(path) == ["a", "b"]


def test_one_indented_body_is_one_request(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(BODY, indent=4))
    (asked,) = read_file(path)
    assert str(asked.origin) == f"{path}:1"
    assert asked.body == BODY


def test_origins_are_lines_or_places_in_a_list(tmp_path: Path) -> None:
    lines = tmp_path / "log.jsonl"
    lines.write_bytes(LINE + b"\n" + LINE)
    assert [asked.origin.number for asked in read_file(lines)] == [1, 3]
    listed = tmp_path / "log.json"
    listed.write_bytes(b"[" + LINE + b"," + LINE + b"]")
    assert [asked.origin.number for asked in read_file(listed)] == [1, 2]


def test_a_directory_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "1.jsonl.gz").write_bytes(gzip.compress(body("third")))
    (tmp_path / "a.json").write_bytes(body("first"))
    (tmp_path / "a.ndjson").write_bytes(body("second"))
    (tmp_path / "notes.txt").write_text("no request")
    found = [asked.pieces[0].text for asked in read_requests([str(tmp_path)])]
    assert found == ["first", "second", "third"]


def test_a_directory_without_requests_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"no \.json, \.jsonl, \.ndjson in this directory"):
        list(read_requests([str(tmp_path)]))


def test_standard_input_is_called_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE)))
    (asked,) = read_requests(["-"])
    assert str(asked.origin) == "-:1"


def test_what_the_user_tells_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINE)
    (asked,) = read_file(path, Signs(provider="engine"))
    assert asked.vendor == "engine"


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINE * 5 + b"broken")
    found = read_file(path)
    assert [next(found).model for _ in range(5)] == ["gpt-6-sol"] * 5
    with pytest.raises(Unreadable, match=r"log\.jsonl:6: not JSON"):
        next(found)


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.json", LINE)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", r":? empty$"),
        (b"\n \r\n", r": empty$"),
        (b"[]", r": no requests$"),
        (b"\x00\x01\x02" * 100, r":1: neither a JSON object nor a list$"),
        (b"hello", r":1: neither a JSON object nor a list$"),
        (b"3\n", r":1: neither a JSON object nor a list$"),
        (b"[1, 2]", r":1: a request is an object"),
        (LINE[:40], r":1: not JSON: Input data was truncated$"),
        (LINE + LINE[:40], r":2: not JSON: Input data was truncated$"),
        (b'{\n"messages": [],\n"model": oops\n}', r":3: not JSON: JSON is malformed"),
        (b'{"a": 1} trailing', r":1: not JSON"),
        (b'{"messages": 3}', r":1: no request: neither messages, contents, input nor prompt$"),
        (b'{"messages": [3]}', r":1: messages\[0\]: expected an object, got a number$"),
        (LINE + b"[3]", r":2: a request is an object$"),
        (LINE * 9 + b"[3]", r":10: a request is an object, this is a list$"),
        (b'{"a": "\xff"}', r":1: not JSON"),
        (b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", r":1: .*nest|:1: .*recurs"),
        (b"SQLite format 3\0" + b"\0" * 100, r":1: a database"),
        (zipped(), r":1: a ZIP"),
        (
            gzip.compress(LINE * 100, mtime=0)[:60],
            r": cannot be read( after line \d+)?: Compressed file ended",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_the_place(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=problem) as raised:
        list(read_file(path))
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)
    line = re.match(r":(\d+): ", problem)
    assert raised.value.file == str(path)
    assert raised.value.line == (int(line[1]) if line else None)
    assert str(path) not in raised.value.reason


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"gone: cannot be read"):
        list(read_requests([str(tmp_path / "gone")]))


def test_a_line_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "LONGEST", 100)
    monkeypatch.setattr(lines, "CHUNK", 50)
    path = tmp_path / "log"
    path.write_bytes(LINE + b"x" * 1000)
    with pytest.raises(Unreadable, match=r":2: a line of more than 100 bytes$"):
        list(read_file(path))
    path.write_bytes(b'{"messages": [\n' + b" 1,\n" * 100)
    with pytest.raises(Unreadable, match=r": one document of more than 100 bytes"):
        list(read_file(path))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("start", [b"", b"{", b"[\n"])
def test_a_gigabyte_of_nothing_is_refused_in_bounded_memory_and_time(
    tmp_path: Path, start: bytes
) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(start)
        os.truncate(path, 1 << 30)
    begun = time.monotonic()
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from headstart.insight.asked.errors import Unreadable\n"
        "from headstart.insight.asked.source import read_requests\n"
        "try: list(read_requests(sys.argv[1:]))\n"
        "except Unreadable as error: print(error)\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    problem, kilobytes = done.stdout.splitlines()
    assert problem.startswith(str(path))
    assert int(kilobytes) < 130_000
    assert time.monotonic() - begun < 20


def test_one_that_hears_of_troubles_gets_the_rest_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{")
    (tmp_path / "b.json").write_bytes(body("b"))
    heard: list[tuple[str, str]] = []
    places = [str(tmp_path / "gone"), str(tmp_path)]
    found = read_requests(places, trouble=lambda place, error: heard.append((place, str(error))))
    assert [asked.pieces[0].text for asked in found] == ["b"]
    assert [Path(place).name for place, _ in heard] == ["gone", "a.json"]
    assert all(problem.startswith(place) for place, problem in heard)


def test_lines_that_cannot_be_read_are_left_out_and_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINE * 3 + b'{"messages": [\n' + LINE + b'{"messages": [3]}\n' + LINE + b"{")
    heard: list[Unreadable] = []
    found = list(read_requests([str(path)], trouble=lambda _, error: heard.append(error)))
    assert [asked.origin.number for asked in found] == [1, 2, 3, 5, 7]
    (error,) = heard
    assert str(error).startswith(f"{path}:4: not JSON")
    assert str(error).endswith("; 2 more could not be read")
    assert (error.file, error.line) == (str(path), 4)


def test_a_file_without_any_request_is_soon_given_up(tmp_path: Path) -> None:
    path = tmp_path / "foreign.jsonl"
    path.write_bytes(b'{"level": "info"}\n' * 99 + LINE)
    heard: list[str] = []
    assert not list(read_requests([str(path)], trouble=lambda _, error: heard.append(str(error))))
    (line,) = heard
    assert line.startswith(f"{path}:1: no request")
    assert line.endswith("; 15 more could not be read, and the rest was not tried")
