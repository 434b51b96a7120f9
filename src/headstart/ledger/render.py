"""A report for programs: JSON and CSV."""

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from headstart.ledger.money import text
from headstart.ledger.report import Group, Report

SCHEMA_VERSION = 1
DIGITS = 6
"""Of ratios. Tokens are whole and money is exact."""


def as_dict(report: Report) -> dict[str, Any]:
    """What `GET /v1/usage` and `--json` answer. Money is a decimal string in dollars, or null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "currency": "USD",
        "by": report.by,
        "since": _when(report.since),
        "until": _when(report.until),
        "groups": [_group(group) for group in report.groups],
        "total": _group(report.total),
    }


def as_json(report: Report) -> str:
    """The same report is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True)


def as_csv(report: Report) -> str:
    """One line for each group, or one for all if there are none. What is unknown is empty."""
    groups = report.groups if report.by is not None else [report.total]
    lifetimes = sorted({name for group in groups for name in group.written})
    lines = [_line(group, lifetimes) for group in groups]
    file = io.StringIO()
    names = list(_line(report.total, lifetimes))
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return file.getvalue()


def _line(group: Group, lifetimes: list[str]) -> dict[str, Any]:
    fields = _group(group)
    written = fields.pop("written")
    for name in lifetimes:
        each = written.get(name, {"tokens": 0, "break_even": None})
        fields[f"written_{name}"] = each["tokens"]
        fields[f"break_even_{name}"] = each["break_even"]
    return fields


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "requests": group.requests,
        "prompt_tokens": group.prompt,
        "fresh_tokens": group.fresh,
        "read_tokens": group.read,
        "written_tokens": sum(each.tokens for each in group.written.values()),
        "written": {
            name: {"tokens": each.tokens, "break_even": _ratio(each.break_even)}
            for name, each in group.written.items()
        },
        "output_tokens": group.output,
        "storage_token_hours": _money(Decimal(group.token_seconds) / 3600),
        "reused_tokens": group.reused,
        "token_hit_rate": _ratio(group.hit_rate),
        "token_hit_rate_ceiling": _ratio(group.ceiling),
        "ceiling_prompt_tokens": group.ceiling_prompt,
        "priced_requests": group.priced,
        "paid": _money(group.paid),
        "without_cache": _money(group.plain),
        "saved": _money(group.saved),
        "storage": _money(group.rent),
    }


def _money(dollars: Decimal | None) -> str | None:
    return None if dollars is None else text(dollars)


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _when(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
