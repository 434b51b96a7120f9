"""`headstart lint --fix --write OUT`, as its command runs it."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.insight.fix.recorded import write

from headstart.insight.lint.main import Given, main

RULES = (
    "Always be short. " + "Parcels of the firm go out at noon, and returns come in by rail. " * 30
)
LINES = [
    {
        "time": 1000.0 + minute,
        "session": f"s{minute}",
        "note": "kept",
        "body": {
            "model": "deepseek-chat",
            "messages": [
                {"role": "system", "content": f"Current time: 10:2{minute}:07\n\n{RULES}"},
                {"role": "user", "content": f"Where is parcel {minute}?"},
            ],
        },
    }
    for minute in range(4)
]


def lint(place: Path, out: Path, **more: Any) -> int:
    return main(Given([str(place)], provider="deepseek", fixed=out, **more))


def test_recorded_lines_keep_all_but_the_body_and_the_gain_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    assert lint(write(tmp_path / "in.jsonl", LINES), out) == 0
    said = capsys.readouterr().out
    assert "moved to the end of the system prompt: 4 requests" in said
    assert "proved by replay (contract deepseek)" in said
    new = [json.loads(line) for line in out.read_text().splitlines()]
    for old, now in zip(LINES, new, strict=True):
        assert {**now, "body": old["body"]} == old
        system, question = now["body"]["messages"]
        clock = old["body"]["messages"][0]["content"].split("\n")[0]  # type: ignore[index]
        assert system["content"] == f"{RULES.rstrip()}\n\n{clock}"
        assert question == old["body"]["messages"][1]  # type: ignore[index]
    assert main(Given([str(out)], provider="deepseek")) == 0


def test_a_line_that_also_instructs_stays_and_counts_as_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(json.dumps(LINES).replace("Current time", "Never say that it is"))
    out = tmp_path / "out.jsonl"
    place = write(tmp_path / "in.jsonl", told)
    assert lint(place, out) == 1
    assert "instructions keep their place" in capsys.readouterr().out
    assert out.read_bytes() == place.read_bytes()


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = write(tmp_path / "in.jsonl", LINES)
    before = place.read_bytes()
    assert lint(place, place) == 2
    assert place.read_bytes() == before
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_broken_line_is_one_line_and_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = write(tmp_path / "in.jsonl", LINES)
    place.write_text(place.read_text() + '{"body": ')
    out = tmp_path / "out.jsonl"
    assert lint(place, out) == 2
    assert not out.exists()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_below_the_minimum_nothing_is_moved_as_nothing_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = "\n".join(f"Rule {n}: say what section {n} says." for n in range(100))
    bodies = [
        {
            "model": "gemini-2.5-flash",
            "systemInstruction": {"parts": [{"text": f"Session {session}\n{rules}"}]},
            "contents": [{"role": "user", "parts": [{"text": f"Question {n}?"}]}],
            "tools": [{"functionDeclarations": [{"name": "look_up", "description": "Looks up."}]}],
        }
        for n, session in enumerate(map(id_of, range(1, 9)))
    ]
    log, out = write(tmp_path / "log.jsonl", bodies), tmp_path / "out.jsonl"
    assert main(Given([str(log)], fixed=out)) == 1
    assert "Nothing to fix" in capsys.readouterr().out
    assert [json.loads(line) for line in out.read_text().splitlines()] == bodies


TOOL = {"name": "look_up", "description": "Looks up an order.", "parameters": {"type": "OBJECT"}}


def id_of(number: int) -> UUID:
    return UUID(int=number * 7**40 + 9**38)


def of_gemini(rules: int, early: str = "Session ID: {}", late: str = "") -> list[dict[str, Any]]:
    lines = [f"Rule {n}: say what section {n} of the handbook says." for n in range(rules)]
    text = "\n".join([early, *lines[: rules // 2], late, *lines[rules // 2 :]])
    return [
        {
            "model": "gemini-2.5-flash",
            "systemInstruction": {"parts": [{"text": text.format(*2 * [id_of(n)])}]},
            "tools": [{"functionDeclarations": [TOOL]}],
            "contents": [{"role": "user", "parts": [{"text": f"Question {n}?"}]}],
        }
        for n in range(1, 9)
    ]


@pytest.mark.parametrize("rules", range(200, 216, 2))
def test_what_is_fixed_is_clean_wherever_a_vendors_steps_fall(tmp_path: Path, rules: int) -> None:
    """Google renders tools behind the instructions, and counts reads in steps of 128 tokens."""
    log, out = write(tmp_path / "log.jsonl", of_gemini(rules)), tmp_path / "out.jsonl"
    assert main(Given([str(log)], fixed=out)) == 0
    assert main(Given([str(out)])) == 0


def test_what_is_fixed_in_part_is_told_and_counts_as_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = of_gemini(500, late="You must sign with session ID: {}.")
    log, out = write(tmp_path / "log.jsonl", bodies), tmp_path / "out.jsonl"
    assert main(Given([str(log)], fixed=out)) == 1
    said = capsys.readouterr().out.partition("Not fixed wholly:")[2]
    assert f"{out}:2 /systemInstruction/parts/0: HS103" in said
    assert "instructions keep their place" in said
    assert main(Given([str(out)])) == 1
