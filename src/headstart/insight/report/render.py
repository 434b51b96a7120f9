"""A report for programs: JSON with a schema version, and CSV with a group a line."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from headstart.insight.plan.render import figure_fields, plain, table_fields
from headstart.insight.report.document import Document
from headstart.insight.report.sums import Sums

SCHEMA_VERSION = 1


def as_dict(report: Document) -> dict[str, Any]:
    """Money is decimal strings in dollars; unknown is null, never 0."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": "headstart report",
        "by": report.by,
        "tokens_are": report.kind,
        "figures": {
            each.key: figure_fields(each) for part in report.sections for each in part.figures
        },
        "tables": {
            each.key: table_fields(each) for part in report.sections for each in part.tables
        },
        "findings": list(report.findings),
        "advice": list(report.advice),
        "abstained": report.abstained,
    }


def as_json(report: Document) -> str:
    """The same report is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_csv(report: Document) -> str:
    """All groups and all together, in the order of their names. What is unknown is empty."""
    lifetimes = sorted(report.total.written)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    written = [f"written_{name}" for name in lifetimes]
    begin = ("requests", "prompt_tokens", "fresh_tokens", "read_tokens")
    rates = ("output_tokens", "token_hit_rate", "token_hit_rate_ceiling")
    money = ("paid", "without_cache", "saved", "priced_requests")
    writer.writerow((report.by, *begin, *written, *rates, *money, "tokens_are"))
    for name, sums in (*report.groups, ("all", report.total)):
        output = sums.output if report.kind == "measured" else None
        writer.writerow((name, *_cells(sums, lifetimes, output), report.kind))
    return file.getvalue()


def _cells(sums: Sums, lifetimes: Sequence[str], output: int | None) -> Sequence[Any]:
    written = [sums.written.get(name, 0) for name in lifetimes]
    money = sums.money or (None, None, None)
    return (
        sums.requests,
        sums.prompt,
        sums.fresh,
        sums.read,
        *written,
        output,
        plain(sums.hit_rate),
        plain(sums.ceiling),
        *map(plain, money),
        sums.priced,
    )
