"""A report for a pull request's comment or a job's summary."""

import re

from headstart.insight.findings.finding import Finding
from headstart.insight.findings.report import Report
from headstart.insight.findings.text import summary

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def as_markdown(report: Report) -> str:
    """A heading, the sum, and an entry for each finding and each thing that was not judged."""
    parts = [f"### {report.tool}", _plain(summary(report))]
    if report.findings:
        parts.append("\n".join(_finding(finding) for finding in report.findings))
    troubles = (*report.problems, *report.abstained)
    if troubles:
        parts.append("\n".join(f"- {_code(str(t.where))} {_plain(t.reason)}" for t in troubles))
    return "\n\n".join(parts) + "\n"


def _finding(finding: Finding) -> str:
    lines = [
        f"- **{finding.code}** {finding.severity}, {finding.evidence}, {_code(str(finding.where))}:"
        f" {_plain(finding.message)} {_plain(finding.why)}"
    ]
    lines += [f"  - {_code(str(step.where))} {_code(step.text)}" for step in finding.steps]
    if finding.fix is not None:
        lines.append(f"  - *Fix:* {_plain(finding.fix)}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """A code span, fenced longer than any run of backticks inside."""
    text = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
