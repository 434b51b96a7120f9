"""A plan for programs: JSON with a schema version, and CSV with one number a line."""

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from headstart.insight.plan.figure import Figure, Report, Table, Value
from headstart.ledger.money import text

SCHEMA_VERSION = 1
DIGITS = 12
"""Of fractions: what two machines' arithmetic agrees on."""
DECIMALS = Decimal("1e-12")


def as_dict(report: Report) -> dict[str, Any]:
    """Money and other decimals are strings, exact to a pico-dollar; unknown is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": {"name": report.model, "source": report.source},
        "assumptions": {
            each.key: {"value": each.value, "given": each.given} for each in report.assumptions
        },
        "figures": {
            figure.key: figure_fields(figure)
            for section in report.sections
            for figure in section.figures
        },
        "tables": {
            table.key: table_fields(table)
            for section in report.sections
            for table in section.tables
        },
        "findings": list(report.findings),
        "advice": list(report.advice),
    }


def as_json(report: Report) -> str:
    """The same plan is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False)


def as_csv(report: Report) -> str:
    """Columns: section, key, value, unit, kind, usual value, usual formula. Cells of tables have
    keys such as `uses[3].prefix_saved`."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("section", "key", "value", "unit", "kind", "usual", "usual_formula"))
    for section in report.sections:
        for figure in section.figures:
            usual = figure.usual
            writer.writerow(
                (
                    section.title,
                    figure.key,
                    plain(figure.value),
                    figure.unit,
                    figure.kind,
                    "" if usual is None else plain(usual.value),
                    "" if usual is None else usual.formula,
                )
            )
        for table in section.tables:
            writer.writerows((section.title, *cell, "", "") for cell in _cells(table))
    return file.getvalue()


def plain(value: Value) -> int | float | str | None:
    """Rounded to what is meaningful, the same everywhere."""
    match value:
        case Decimal():
            return text(value.quantize(DECIMALS))
        case float():
            return float(f"{value:.{DIGITS}g}")
        case _:
            return value


def figure_fields(figure: Figure) -> dict[str, Any]:
    """A figure under its key."""
    fields: dict[str, Any] = {
        "value": plain(figure.value),
        "unit": figure.unit,
        "kind": figure.kind,
        "how": figure.how,
    }
    if figure.usual is not None:
        fields["usual"] = {
            "value": plain(figure.usual.value),
            "formula": figure.usual.formula,
            "lacks": figure.usual.lacks,
        }
    return fields


def table_fields(table: Table) -> dict[str, Any]:
    """A table under its key; its rows are objects."""
    return {
        "columns": {each.key: {"unit": each.unit, "kind": each.kind} for each in table.columns},
        "rows": [
            {column.key: plain(value) for column, value in zip(table.columns, row, strict=True)}
            for row in table.rows
        ],
        "note": table.note,
    }


def _cells(table: Table) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(table.rows):
        for column, value in zip(table.columns, row, strict=True):
            key = f"{table.key}[{number}].{column.key}"
            yield key, plain(value), column.unit, column.kind
