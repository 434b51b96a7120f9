"""A plan for people."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from headstart.insight.bench.table import Table as Plain
from headstart.insight.bench.table import plain as lay_out
from headstart.insight.plan.figure import Figure, Report, Table, Unit, Value

LABEL, VALUE, KIND = 34, 24, 10


def as_text(report: Report) -> str:
    """Sections of figures, each with its kind, what it rests on, and what is usually said."""
    lines = [f"{report.model}: {report.source}", "", "Assumed"]
    lines += [
        f"  {each.key:<{LABEL}}{each.value:<{VALUE}}{'' if each.given else ' (default)'}".rstrip()
        for each in report.assumptions
    ]
    for section in report.sections:
        lines += ["", section.title]
        for figure in section.figures:
            lines += figure_lines(figure)
        for table in section.tables:
            lines += ["", *(f"  {line}" for line in table_text(table).splitlines())]
    if report.findings:
        lines += ["", "Findings", *(f"  ! {each}" for each in report.findings)]
    lines += ["", "What to do, in this order"]
    lines += [f"  {number}. {each}" for number, each in enumerate(report.advice, 1)]
    return "\n".join(lines)


def shown(value: Value, unit: Unit) -> str:
    """A value as people read it."""
    match value, unit:
        case None, _:
            return "never" if unit == "reads" else "unknown"
        case str(), _:
            return str(value)
        case Decimal(), "USD":
            return f"${value.quantize(Decimal('0.000001'), ROUND_HALF_UP).normalize():f}"
        case _, "share":
            return f"{float(value):.2%}"
        case _, "bytes" | "bytes/token":
            return _bytes(float(value))
        case _, "parameters" | "flops":
            return f"{float(value):.3g}"
        case _, "seconds":
            return _seconds(float(value))
        case _, "times":
            return f"{float(value):.1f}×"
        case _, "tokens" | "copies":
            return f"{float(value):,.0f}"
        case _, "reads" | "prefixes":
            return f"{float(value):.2f}"
        case _:
            return f"{value:g}" if isinstance(value, float) else str(value)


def figure_lines(figure: Figure) -> Iterator[str]:
    """One line, and another one for what is usually said instead."""
    value = shown(figure.value, figure.unit)
    yield f"  {figure.label:<{LABEL}}{value:<{VALUE}}{figure.kind:<{KIND}} {figure.how}".rstrip()
    usual = figure.usual
    if usual is None:
        return
    told = shown(usual.value, figure.unit)
    if told != value:
        because = f": {usual.lacks}" if usual.lacks else ""
        yield f"  {'':<{LABEL}}usually {told}, {usual.formula}{because}"


def table_text(table: Table) -> str:
    """A table with its title, what its numbers are, and its note."""
    rows = tuple(
        tuple(shown(value, column.unit) for column, value in zip(table.columns, row, strict=True))
        for row in table.rows
    )
    kinds = sorted({column.kind for column in table.columns})
    labels = tuple(column.label for column in table.columns)
    return lay_out(Plain(f"{table.title} ({', '.join(kinds)})", labels, rows, (table.note,)))


def _bytes(size: float) -> str:
    for scale, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(size) >= scale:
            return (
                f"{size / scale:,.4g} {name}"
                if size / scale < 10000
                else f"{size / scale:,.0f} {name}"
            )
    return f"{size:,.0f} B"


def _seconds(seconds: float) -> str:
    if seconds >= 1000:
        return f"{seconds:,.0f} s"
    return f"{seconds:.3g} s" if seconds >= 10 else f"{seconds * 1000:,.4g} ms"
