"""A probe's outcome for programs and for people."""

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any

from headstart.insight.plan.figure import Unit
from headstart.insight.plan.render import plain
from headstart.insight.plan.text import shown
from headstart.insight.probe.report import Number, Report

SCHEMA_VERSION = 1
DIGITS = 6
"""Of measured seconds."""
LABEL, VALUE, KIND = 34, 34, 10
WIDTH = 100


def as_dict(report: Report) -> dict[str, Any]:
    """Shares are 0..1, times seconds, dollars decimal strings; unknown and unbounded are null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "setup": dict(report.setup),
        "verdict": {
            "name": report.verdict.name,
            "status": report.verdict.status,
            "says": report.verdict.says,
            "limit": report.verdict.limit,
        },
        "remarks": {each.name: each.says for each in report.remarks},
        "figures": {
            number.figure.key: _figure(number) for part in report.parts for number in part.numbers
        },
        "notes": list(report.notes),
        "samples": [
            {key: _rounded(value) for key, value in sample.items()} for sample in report.samples
        ],
    }


def as_json(report: Report) -> str:
    """Keys in alphabetical order."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False)


def as_csv(report: Report) -> str:
    """One number a line, the verdict first."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("key", "value", "low", "high", "unit", "kind"))
    writer.writerow(("verdict", report.verdict.name, "", "", "", "derived"))
    for part in report.parts:
        for number in part.numbers:
            told = _figure(number)
            ends = told.get("interval") or ("", "")
            writer.writerow((number.figure.key, told["value"], *ends, told["unit"], told["kind"]))
    return file.getvalue()


def as_text(report: Report) -> str:
    """The verdict, then what it rests on."""
    verdict = report.verdict
    lines = [f"verdict: {verdict.name}", *_wrapped(verdict.says), *_wrapped(verdict.limit)]
    for remark in report.remarks:
        lines += ["", remark.name, *_wrapped(remark.says)]
    for part in report.parts:
        lines += ["", part.title, *(_line(number) for number in part.numbers)]
    if report.notes:
        lines += ["", *(line for note in report.notes for line in _wrapped(f"! {note}"))]
    setup = ", ".join(f"{key} {value}" for key, value in report.setup.items() if value is not None)
    return "\n".join([*lines, "", *_wrapped(setup)])


def _line(number: Number) -> str:
    figure = number.figure
    value = shown(figure.value, figure.unit)
    if number.low is not None and number.high is not None:
        value += f" ({_bound(number.low, figure.unit)} to {_bound(number.high, figure.unit)})"
    return f"  {figure.label:<{LABEL}}{value:<{VALUE}} {figure.kind:<{KIND}}{figure.how}".rstrip()


def _bound(value: float, unit: Unit) -> str:
    return shown(value, unit) if math.isfinite(value) else "any"


def _wrapped(text: str) -> Iterator[str]:
    line = " "
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            yield line
            line = " "
        line += f" {word}"
    yield line


def _figure(number: Number) -> dict[str, Any]:
    figure = number.figure
    fields: dict[str, Any] = {
        "value": plain(figure.value),
        "unit": figure.unit,
        "kind": figure.kind,
        "how": figure.how,
    }
    if number.low is not None and number.high is not None:
        ends = (number.low, number.high)
        fields["interval"] = [plain(end) if math.isfinite(end) else None for end in ends]
    return fields


def _rounded(value: Any) -> Any:
    return round(value, DIGITS) if isinstance(value, float) else value
