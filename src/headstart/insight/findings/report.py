"""All that a linter has to say, and the exit status that goes with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.findings.finding import Finding, Severity
from headstart.insight.findings.place import Place
from headstart.insight.findings.rule import Rule

CLEAN, FINDINGS, IMPOSSIBLE, ABSTAINED = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that could not be judged."""

    where: Place
    reason: str
    """Why, and what to do, in one line that begins small and goes on from the place."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and in how much."""

    tool: str
    """The command, such as `headstart lint-code`."""
    rules: Sequence[Rule]
    """All that were asked for, found or not."""
    findings: Sequence[Finding]
    checked: int
    """How many things were judged."""
    unit: str = "files"
    """What those things are."""
    problems: Sequence[Trouble] = ()
    """What could not be read."""
    abstained: Sequence[Trouble] = ()
    """What was read, and is beyond this linter or this installation."""


@dataclass(frozen=True, slots=True)
class FailOn:
    """Which findings make the exit status 1."""

    worst: Severity | None = Severity.NOTE
    """This severity and all worse ones."""
    codes: tuple[str, ...] = ()
    """Or these codes, or what begins so."""

    @classmethod
    def parse(cls, text: str) -> "FailOn":
        """`warning`, or `HSC101,HSC2`, or both: `error,HSC101`."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        severities = [Severity(word) for word in words if word in list(Severity)]
        worst = max(severities, key=lambda severity: severity.rank, default=None)
        return cls(worst, tuple(word for word in words if word not in list(Severity)))

    def __call__(self, finding: Finding) -> bool:
        """Whether it counts."""
        severe = self.worst is not None and finding.severity.rank <= self.worst.rank
        return severe or any(finding.code.startswith(code) for code in self.codes)


def exit_code(report: Report, fail_on: FailOn | None = None) -> int:
    """2 where something could not be read, else 1 with findings, else 3 where a part was not
    judged or nothing was there to judge, else 0."""
    counts = fail_on or FailOn()
    if report.problems:
        return IMPOSSIBLE
    if any(counts(finding) for finding in report.findings):
        return FINDINGS
    if report.abstained or not report.checked:
        return ABSTAINED
    return CLEAN
