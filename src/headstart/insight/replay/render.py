"""A replay for programs: JSON with a schema version, and CSV with a line for each point."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from headstart.insight.replay.report import Curve, Point, Report
from headstart.ledger.money import text

SCHEMA_VERSION = 1
DIGITS = 9
"""Of rates: what two machines' arithmetic agrees on."""


def as_dict(report: Report) -> dict[str, Any]:
    """Rates are 0..1; money is a string, exact to a pico-dollar; unknown is null."""
    facts, known = report.facts, report.kinds
    return {
        "schema_version": SCHEMA_VERSION,
        "kinds": dict(known),
        "trace": {
            "files": list(facts.files),
            "format": facts.format,
            "requests": facts.requests,
            "prompt_tokens": facts.prompt_tokens,
            "output_tokens": facts.output_tokens,
            "block_tokens": facts.block_tokens,
            "footprint_tokens": facts.footprint_tokens,
            "span_s": _rounded(facts.span_s),
        },
        "setup": dict(report.setup),
        "ceiling": _rounded(report.ceiling),
        "points": [_point(each, report.levels) for each in report.points],
        "curves": [_curve(each, known["optimum"]) for each in report.curves],
        "notes": list(report.notes),
        "findings": list(report.findings),
    }


def as_json(report: Report) -> str:
    """The same replay is the same text."""
    return json.dumps(as_dict(report), indent=1, sort_keys=True, ensure_ascii=False)


def as_csv(report: Report) -> str:
    """A header, then a line for each point; the kinds of numbers are in the header's names."""
    known = report.kinds
    columns = {
        "policy": "policy",
        "capacity_tokens": "capacity_tokens",
        "footprint_share": f"footprint_share ({known['footprint']})",
        "hit_rate": f"hit_rate ({known['hit_rate']})",
        "hit_tokens": f"hit_tokens ({known['hit_rate']})",
        "optimum": f"optimum ({known['optimum']})",
        "ceiling": f"ceiling ({known['ceiling']})",
        **{f"level_{name}": f"level_{name} ({known['hit_rate']})" for name in report.levels},
        "refused": "refused (measured)",
        "paid": f"paid ({known['money']})",
        "without_cache": f"without_cache ({known['money']})",
    }
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns.values())
    for point in report.points:
        row = {"ceiling": _rounded(report.ceiling), **_point(point, report.levels)}
        row |= {f"level_{name}": rate for name, rate in row["levels"].items()}
        row |= row["money"] or {}
        writer.writerow(row.get(name) for name in columns)
    return file.getvalue()


def _point(point: Point, levels: Sequence[str]) -> dict[str, Any]:
    outcome, money = point.outcome, point.money
    total = outcome.prompt_tokens or 1
    return {
        "policy": outcome.policy,
        "capacity_blocks": outcome.capacity,
        "capacity_tokens": point.capacity_tokens,
        "footprint_share": _rounded(point.footprint_share),
        "hit_tokens": outcome.hit_tokens,
        "hit_rate": _rounded(outcome.hit_rate),
        "levels": {
            name: _rounded(tokens / total)
            for name, tokens in zip(levels, outcome.levels, strict=True)
        },
        "computed_tokens": list(outcome.loads),
        "refused": outcome.refused,
        "optimum": _rounded(point.optimum),
        "money": None
        if money is None
        else {
            "paid": text(money.paid),
            "without_cache": text(money.plain),
            "saved": text(money.saved),
        },
    }


def _curve(curve: Curve, kind: str) -> dict[str, Any]:
    points = [{"capacity_tokens": size, "hit_rate": _rounded(rate)} for size, rate in curve.points]
    return {"name": curve.name, "kind": kind, "points": points}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
