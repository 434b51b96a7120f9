"""Requests through the linter, and the causes that it names."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from headstart.insight.asked.asked import Origin
from headstart.insight.asked.count import Estimate
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.read import read
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.findings.finding import Finding
from headstart.insight.lint.linter import Linter

CAUSES = {about.code: cause for cause, about in ABOUT.items()}


def findings(lines: Iterable[dict[str, Any]], vendor: str = "", **options: Any) -> list[Finding]:
    """Of bodies, or of bodies with what a recording has beside them."""
    linter = Linter(Estimate(), **options)
    for number, line in enumerate(lines, 1):
        recorded = "body" in line
        asked = read(line["body"] if recorded else line, Signs(vendor), Origin("log", number))
        beside = {name: line[name] for name in ("time", "session", "tenant") if name in line}
        linter.hear(replace(asked, **beside) if recorded else asked)
    return linter.findings()


def causes(lines: Iterable[dict[str, Any]], vendor: str = "") -> set[Cause]:
    return {CAUSES[finding.code] for finding in findings(lines, vendor)}
