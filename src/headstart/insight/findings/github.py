"""A report as workflow commands: GitHub Actions shows them as annotations beside the lines."""

from headstart.insight.findings.finding import Finding, Severity
from headstart.insight.findings.place import Place
from headstart.insight.findings.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_github(report: Report) -> str:
    """One line for each finding and each thing that could not be judged."""
    lines = [
        _line(_COMMANDS[finding.severity], finding.where, finding.code, _text(finding))
        for finding in report.findings
    ]
    lines += [_line("error", each.where, report.tool, each.reason) for each in report.problems]
    lines += [_line("notice", each.where, report.tool, each.reason) for each in report.abstained]
    return "".join(f"{line}\n" for line in lines)


def _text(finding: Finding) -> str:
    way = " → ".join(f"{step.where}: {step.text}" for step in finding.steps)
    parts = [finding.message, finding.why, *([f"Way: {way}"] if way else ())]
    return "\n".join([*parts, *([finding.fix] if finding.fix else ())])


def _line(command: str, where: Place, title: str, text: str) -> str:
    fields = {
        "file": where.path,
        "line": where.line,
        "col": where.column,
        "endLine": where.end_line,
        "title": title,
    }
    named = ",".join(f"{key}={_property(str(v))}" for key, v in fields.items() if v is not None)
    pointer = f"{where.pointer}: " if where.pointer else ""
    return f"::{command} {named}::{_data(pointer + text)}"


def _data(text: str) -> str:
    """Escapes by the toolkit's `escapeData`: a line feed would end the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
