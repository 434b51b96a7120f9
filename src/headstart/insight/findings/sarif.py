"""A report in SARIF 2.1.0 (OASIS, errata 01), as code scanning reads it."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from headstart import __version__
from headstart.insight.findings.finding import Finding
from headstart.insight.findings.place import Place
from headstart.insight.findings.report import Report, Trouble
from headstart.insight.findings.rule import Rule, page

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def as_sarif(report: Report) -> str:
    """One run; each rule carries its page."""
    return json.dumps(as_log(report), indent=1, ensure_ascii=False) + "\n"


def as_log(report: Report) -> dict[str, Any]:
    """The log file."""
    numbers = {rule.code: number for number, rule in enumerate(report.rules)}
    driver = {
        "name": report.tool,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in report.rules],
    }
    notifications = [
        *(_notification(trouble, "error") for trouble in report.problems),
        *(_notification(trouble, "note") for trouble in report.abstained),
    ]
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": list(_results(report.findings, numbers)),
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(findings: Iterable[Finding], numbers: dict[str, int]) -> Iterable[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for finding in findings:
        name = "\0".join(
            (finding.code, finding.where.path, finding.where.pointer or "", finding.message)
        )
        yield _result(finding, numbers, f"{name}\0{seen[name]}")
        seen[name] += 1


def _result(finding: Finding, numbers: dict[str, int], name: str) -> dict[str, Any]:
    text = " ".join(filter(None, (finding.message, finding.why, finding.fix)))
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [_location(finding.where)],
        # A name that holds while lines move, so that a known finding is not a new one.
        "partialFingerprints": {"headstart/v1": hashlib.sha256(name.encode()).hexdigest()[:32]},
        "properties": {"evidence": finding.evidence.value},
    }
    if finding.steps:
        way = [{"location": _location(step.where, step.text)} for step in finding.steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": way}]}]
    return result


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.summary, "markdown": page(rule)},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _notification(trouble: Trouble, level: str) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": f"{trouble.where} {trouble.reason}"},
        "locations": [_location(trouble.where)],
    }


def _location(place: Place, text: str | None = None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.path)}}
    region = {"startLine": place.line, "startColumn": place.column, "endLine": place.end_line}
    if place.line is not None:
        physical["region"] = {key: value for key, value in region.items() if value is not None}
    location: dict[str, Any] = {"physicalLocation": physical}
    if place.pointer is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": place.pointer}]
    if text is not None:
        location["message"] = {"text": text}
    return location


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())
