"""A report for programs."""

import json
from typing import Any

from headstart.insight.findings.finding import Finding
from headstart.insight.findings.place import Place
from headstart.insight.findings.report import Report, Trouble

SCHEMA_VERSION = 1


def as_dict(report: Report) -> dict[str, Any]:
    """Fields that are not known are left out of places; all others are always there."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": report.tool,
        "checked": report.checked,
        "unit": report.unit,
        "findings": [_finding(finding) for finding in report.findings],
        "problems": [_trouble(trouble) for trouble in report.problems],
        "abstained": [_trouble(trouble) for trouble in report.abstained],
    }


def as_json(report: Report) -> str:
    """The same report is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "evidence": finding.evidence,
        "message": finding.message,
        "why": finding.why,
        "fix": finding.fix,
        "where": _place(finding.where),
        "steps": [{"where": _place(step.where), "text": step.text} for step in finding.steps],
    }


def _trouble(trouble: Trouble) -> dict[str, Any]:
    return {"where": _place(trouble.where), "reason": trouble.reason}


def _place(place: Place) -> dict[str, Any]:
    fields = {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "pointer": place.pointer,
    }
    return {key: value for key, value in fields.items() if value is not None}
