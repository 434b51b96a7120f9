"""Lints for a person or a program: the report on stdout, troubles on stderr."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.insight.asked.count import Counter, Estimate, TokenizerFile
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.source import read_requests
from headstart.insight.findings.place import Place
from headstart.insight.findings.render import Form, render
from headstart.insight.findings.report import IMPOSSIBLE, FailOn, Report, Trouble, exit_code
from headstart.insight.findings.selection import Selection, UnknownCode, codes
from headstart.insight.findings.text import troubles
from headstart.insight.lint.linter import Linter
from headstart.insight.lint.rules import RULES
from headstart.insight.shown import plain, redacted

TOOL = "headstart lint"


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for."""

    places: Sequence[str]
    provider: str = "auto"
    model: str | None = None
    tokenizer: Path | None = None
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    fail_on: str = "warning"
    fixed: Path | None = None
    form: Form = "text"
    redact: bool = False


def main(given: Given) -> int:
    """The exit status."""
    selection = Selection(codes(given.select), codes(given.ignore))
    try:
        rules = selection.of(list(RULES.values()))
        count: Counter = Estimate() if given.tokenizer is None else TokenizerFile(given.tokenizer)
    except (UnknownCode, Unreadable) as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return IMPOSSIBLE
    linter = Linter(count, show=redacted if given.redact else plain)
    problems = []
    signs = Signs("" if given.provider == "auto" else given.provider, model=given.model or "")
    for place in given.places:
        try:
            for asked in read_requests([place], signs):
                if asked.has_body:
                    linter.hear(asked)
        except Unreadable as error:
            problems.append(Trouble(Place(place), str(error).removeprefix(f"{place}: ")))
    report = Report(
        TOOL,
        rules,
        [finding for finding in linter.findings() if finding.code in selection],
        linter.requests,
        "requests",
        problems,
    )
    for line in troubles(report):
        print(line, file=sys.stderr)
    print(render(report, given.form), end="")
    return exit_code(report, FailOn.parse(given.fail_on))
