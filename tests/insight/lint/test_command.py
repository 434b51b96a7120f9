import gzip
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.insight.lint.test_linter import body, clocked

from headstart.insight.causes import ABOUT
from headstart.insight.lint.main import Given, main
from headstart.insight.lint.rules import RULES


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)


def written(path: Path, *bodies: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in bodies))
    return str(path)


def test_a_log_with_a_clock_has_findings_and_one_without_is_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = written(tmp_path / "bad.jsonl", *(clocked(n) for n in range(3)))
    good = written(tmp_path / "good.jsonl", *(body("Be kind.", f"Question {n}?") for n in range(3)))
    assert main(Given([bad])) == 1
    assert "HS101" in capsys.readouterr().out
    assert main(Given([good])) == 0
    assert "Nothing found in 3 requests." in capsys.readouterr().out
    assert main(Given([bad], ignore=["HS101"])) == 0
    assert main(Given([bad], fail_on="error")) == 0


def test_directories_and_compressed_files_are_read(tmp_path: Path) -> None:
    line = "".join(json.dumps(clocked(n)) + "\n" for n in range(3))
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    assert main(Given([str(tmp_path)])) == 1


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_the_forms_for_programs_are_json_and_the_same_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: Any
) -> None:
    bad = written(tmp_path / "bad.jsonl", *(clocked(n) for n in range(3)))
    said = []
    for _ in range(2):
        assert main(Given([bad], form=form)) == 1
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert json.loads(said[0])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.json", b""),
        ("blank.jsonl", b"\n\n"),
        ("broken.json", b'{"messages": ['),
        ("truncated.jsonl.gz", gzip.compress(b"{}" * 999, mtime=0)[:40]),
        ("binary.json", bytes(range(256)) * 9),
        ("foreign.json", b'{"hello": "world"}'),
        ("list.json", b"[1, 2, 3]"),
        ("odd.json", b'{"model": "gpt-5.6", "messages": {"role": 3}}'),
        ("deep.json", b'{"messages": ' + b"[" * 99_999 + b"]" * 99_999 + b"}"),
    ],
)
def test_what_is_no_request_gets_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    good = written(tmp_path / "good.jsonl", body("Be kind.", "Why?"))
    assert main(Given([str(path), good])) == 2
    said = capsys.readouterr()
    assert "in 1 request; 1 could not be read" in said.out
    (line,) = said.err.splitlines()
    assert name in line


def test_behind_a_broken_line_and_a_foreign_file_the_rest_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text('{"name": "package"}')
    path = Path(written(tmp_path / "b.jsonl", *(clocked(n) for n in range(4))))
    whole = path.read_text().splitlines()
    path.write_text("\n".join([whole[0], whole[1][:90], *whole[2:], whole[0][:90]]))
    assert main(Given([str(tmp_path)])) == 2
    said = capsys.readouterr()
    assert "b.jsonl:3 /messages/0/content: HS101" in said.out
    assert "in 3 requests: 1 warning; 2 could not be read" in said.out
    foreign, broken = said.err.splitlines()
    assert foreign.startswith(f"headstart lint: {tmp_path / 'a.json'}:1 cannot be read: no request")
    assert broken.startswith(f"headstart lint: {path}:2 cannot be read: not JSON")
    assert broken.endswith("; 1 more could not be read")


def test_a_file_that_is_not_there_gets_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(Given([str(tmp_path / "none.json")])) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_code_that_is_none_and_a_tokenizer_that_is_none_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path / "good.jsonl", body("Be kind.", "Why?"))
    assert main(Given([good], select=["HS999"])) == 2
    assert "HS999" in capsys.readouterr().err
    assert main(Given([good], tokenizer=tmp_path / "none.json")) == 2
    assert "none.json" in capsys.readouterr().err


def test_every_cause_has_a_code_of_its_own_and_a_page() -> None:
    assert len({about.code for about in ABOUT.values()}) == len(ABOUT) == len(RULES)
    page = (Path(__file__).parents[3] / "docs" / "lint.md").read_text()
    for cause, about in ABOUT.items():
        assert f"| {about.code} | `{cause}` | {about.title} | {about.why} {about.way_out} |" in page
