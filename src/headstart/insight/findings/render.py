"""The forms of a report."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from headstart.insight.findings.github import as_github
from headstart.insight.findings.json import as_json
from headstart.insight.findings.markdown import as_markdown
from headstart.insight.findings.report import Report
from headstart.insight.findings.sarif import as_sarif
from headstart.insight.findings.text import as_text

Form: TypeAlias = Literal["text", "json", "sarif", "github", "md"]

FORMS: Mapping[Form, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
    "md": as_markdown,
}


def render(report: Report, form: Form) -> str:
    """Whole, with the last line feed."""
    return FORMS[form](report)
