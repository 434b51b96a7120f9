"""A report for a pull request's comment or a job's summary."""

import re

from headstart.insight.findings.finding import Finding
from headstart.insight.findings.report import Report
from headstart.insight.findings.text import summary

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def as_markdown(report: Report) -> str:
    """A heading, the sum, and an entry for each finding and each thing that was not judged."""
    parts = [f"### {report.tool}", escaped(summary(report))]
    if report.findings:
        parts.append("\n".join(_finding(finding) for finding in report.findings))
    troubles = (*report.problems, *report.abstained)
    if troubles:
        parts.append("\n".join(f"- {code(str(t.where))} {escaped(t.reason)}" for t in troubles))
    return "\n\n".join(parts) + "\n"


def _finding(finding: Finding) -> str:
    lines = [
        f"- **{finding.code}** {finding.severity}, {finding.evidence}, {code(str(finding.where))}:"
        f" {escaped(finding.message)} {escaped(finding.why)}"
    ]
    lines += [f"  - {code(str(step.where))} {code(step.text)}" for step in finding.steps]
    if finding.fix is not None:
        lines.append(f"  - *Fix:* {escaped(finding.fix)}")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Plain text in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A code span, fenced longer than any run of backticks inside."""
    text = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
