"""A report for people."""

from headstart.insight.plan.text import figure_lines, table_text
from headstart.insight.report.document import Document


def as_text(report: Document) -> str:
    """Four sections. Every number says whether it was measured, derived or estimated."""
    lines: list[str] = []
    for section in report.sections:
        lines += [section.title]
        for figure in section.figures:
            lines += figure_lines(figure)
        for table in section.tables:
            if table.rows:
                lines += ["", *(f"  {line}" for line in table_text(table).splitlines())]
        lines.append("")
    lines += [f"  ! {each}" for each in report.findings]
    lines += [f"  {number}. {each}" for number, each in enumerate(report.advice, 1)]
    return "\n".join(lines) + "\n"
