"""Lints for a person or a program: the report on stdout, troubles on stderr."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headstart.insight.asked.count import Counter, counter_of
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.source import read_requests
from headstart.insight.causes import ABOUT
from headstart.insight.findings.place import Place
from headstart.insight.findings.render import Form, render
from headstart.insight.findings.report import (
    IMPOSSIBLE,
    FailOn,
    Report,
    Trouble,
    exit_code,
)
from headstart.insight.findings.rule import Rule
from headstart.insight.findings.selection import Selection, UnknownCode, codes
from headstart.insight.findings.text import troubles
from headstart.insight.fix.main import Recording, fix_all, said
from headstart.insight.fix.records import sources
from headstart.insight.lint.linter import Linter
from headstart.insight.lint.rules import RULES
from headstart.insight.shown import plain, redacted

TOOL = "headstart lint"
CANNOT = "cannot be read"


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
        count = counter_of(given.tokenizer)
    except (UnknownCode, Unreadable) as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return IMPOSSIBLE
    show = redacted if given.redact else plain
    linter = Linter(count, show=show)
    signs = Signs("" if given.provider == "auto" else given.provider, model=given.model or "")
    if given.fixed is not None:
        again = Linter(count, show=show)
        return _fix(given, given.fixed, rules, selection, count, linter, again, signs)
    problems: list[Trouble] = []
    for asked in read_requests(
        given.places, signs, lambda name, error: problems.append(_unread(name, error))
    ):
        if asked.has_body:
            linter.hear(asked)
    return _said(given, _report(rules, selection, linter, problems))


def _unread(name: str, error: Unreadable) -> Trouble:
    reason = error.reason
    if not reason.startswith(CANNOT):
        reason = f"{CANNOT}: {reason}"
    return Trouble(Place(name, error.line), reason)


def _fix(
    given: Given,
    out: Path,
    rules: Sequence[Rule],
    selection: Selection,
    count: Counter,
    linter: Linter,
    again: Linter,
    signs: Signs,
) -> int:
    """The findings, and what was done about them; 0 where `again`, which hears the changed
    requests, finds none that counts."""
    if out.exists():
        print(f"{TOOL}: {out}: is there already, and nothing is overwritten", file=sys.stderr)
        return IMPOSSIBLE
    with tempfile.TemporaryDirectory() as directory:
        try:
            recording = Recording([*sources(given.places, Path(directory))], signs)
            for asked in recording:
                linter.hear(asked)
            chosen = [cause for cause in linter.causes if ABOUT[cause].code in selection]
            fixed = fix_all(
                recording,
                out,
                broken=[each for each in linter.broken if each.first.cause in chosen],
                found=chosen,
                count=count,
                now=datetime.now(UTC),
                heard=again.hear,
            )
        except (Unreadable, OSError) as error:
            print(f"{TOOL}: {error}", file=sys.stderr)
            return IMPOSSIBLE
    report = _report(rules, selection, linter, ())
    code = _said(given, report)
    remains = _report(rules, selection, again, ()) if fixed.plan else report
    # Beside a form for programs it is for people all the same.
    file = None if given.form == "text" else sys.stderr
    print(said(fixed, out, count, remains.findings), end="", file=file)
    return exit_code(remains, FailOn.parse(given.fail_on)) if fixed.plan else code


def _report(
    rules: Sequence[Rule], selection: Selection, linter: Linter, problems: Sequence[Trouble]
) -> Report:
    found = [finding for finding in linter.findings() if finding.code in selection]
    return Report(TOOL, rules, found, linter.requests, "requests", problems)


def _said(given: Given, report: Report) -> int:
    for line in troubles(report):
        print(line, file=sys.stderr)
    print(render(report, given.form), end="")
    return exit_code(report, FailOn.parse(given.fail_on))
