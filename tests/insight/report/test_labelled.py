"""Nine logs of forty requests, each with one thing planted, and the same without it."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from tests.insight.labelled.case import Log
from tests.insight.labelled.logs import logs

from headstart.insight.causes import Cause
from headstart.insight.report.document import Document
from headstart.insight.report.main import Given, report

SEED = 0
GEMINI = "gemini-2.5-pro"


def told(tmp_path: Path, log: Log) -> Document:
    path = tmp_path / "log.jsonl"
    lines = zip(log.bodies, log.times, log.sessions, strict=True)
    path.write_text(
        "".join(
            json.dumps({"body": body, "time": time, "session": session, "provider": log.vendor})
            + "\n"
            for body, time, session in lines
        )
    )
    document, troubles = report(Given([str(path)], model=GEMINI), today=date(2026, 11, 30))
    assert not troubles
    return document


def causes(document: Document) -> Sequence[str]:
    tables = {table.key: table for part in document.sections for table in part.tables}
    return [str(row[1]) for row in tables["levers"].rows] if "levers" in tables else []


@pytest.mark.slow
@pytest.mark.parametrize("log", list(logs(SEED)), ids=lambda log: log.name)
def test_what_was_planted_is_the_first_lever_and_what_is_healthy_has_none(
    tmp_path: Path, log: Log
) -> None:
    document = told(tmp_path, log)
    found = causes(document)
    if log.cause is not None:
        assert found[0] == log.cause
        assert document.status == 1
    else:
        # How long Gemini keeps what nobody asked it to keep is not published: minutes are taken.
        known = {Cause.EXPIRED} if log.dialect == "gemini" else set()
        big = {each.split(" ", 1)[0] for each in document.findings}
        assert big <= {"HS701"} if known else not big
