"""A report for people in a terminal, without colours: it may go into a file."""

from collections import Counter
from collections.abc import Iterator

from headstart.insight.findings.finding import Evidence, Finding, Severity
from headstart.insight.findings.report import Report


def as_text(report: Report) -> str:
    """Each finding with its way, and one line that sums up. Troubles have lines of their own."""
    blocks = ["\n".join(_finding(finding)) + "\n" for finding in report.findings]
    return "\n".join([*blocks, summary(report) + "\n"])


def summary(report: Report) -> str:
    """`3 findings in 12 files: 1 error, 2 warnings; 1 could not be read.`"""
    by_severity = Counter(finding.severity for finding in report.findings)
    counts = ", ".join(
        counted(by_severity[severity], f"{severity}s")
        for severity in Severity
        if by_severity[severity]
    )
    found = counted(len(report.findings), "findings") if counts else "Nothing found"
    line = f"{found} in {counted(report.checked, report.unit)}" + (f": {counts}" if counts else "")
    if report.problems:
        line += f"; {len(report.problems)} could not be read"
    if report.abstained:
        line += f"; {len(report.abstained)} not judged"
    return line + "."


def counted(number: int, plural: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def troubles(report: Report) -> Iterator[str]:
    """One line for each thing that could not be judged, for stderr."""
    for trouble in (*report.problems, *report.abstained):
        yield f"{report.tool}: {trouble.where} {trouble.reason}"


def _finding(finding: Finding) -> Iterator[str]:
    sure = "" if finding.evidence is Evidence.CONFIRMED else f" [{finding.evidence}]"
    yield f"{finding.where}: {finding.code} {finding.severity}{sure}: {finding.message}"
    yield f"    why: {finding.why}"
    for number, step in enumerate(finding.steps):
        yield f"    {'  → ' if number else 'way: '}{step.where}: {step.text}"
    if finding.fix is not None:
        yield f"    fix: {finding.fix}"
