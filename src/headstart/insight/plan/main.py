"""Makes a plan for a person or a program: the plan on stdout, one line on stderr if none."""

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.given import Given, understand
from headstart.insight.plan.plan import plan
from headstart.insight.plan.render import as_csv, as_json
from headstart.insight.plan.text import as_text
from headstart.insight.wire import EndpointError

__all__ = ["FINDING", "FINE", "IMPOSSIBLE", "UNKNOWN", "Given", "main"]

FINE, FINDING, IMPOSSIBLE, UNKNOWN = 0, 1, 2, 3
"""Exit statuses: also a plan with a finding, or without a price, is printed."""


def main(given: Given, *, form: Literal["text", "json", "csv"], plot: Path | None) -> int:
    """The exit status."""
    try:
        ask, unknown = understand(given, now=datetime.now(UTC), progress=_progress)
        report = plan(ask)
        if plot is not None:
            from headstart.insight.plan.plot import draw

            draw(ask, plot)
    except (PlanError, EndpointError) as error:
        print(f"headstart plan: {error}", file=sys.stderr)
        return IMPOSSIBLE
    render = {"text": as_text, "json": as_json, "csv": as_csv}[form]
    print(render(report), end="" if form == "csv" else "\n")
    if unknown is not None:
        print(f"headstart plan: {unknown}", file=sys.stderr)
    if report.findings:
        return FINDING
    return FINE if unknown is None else UNKNOWN


def _progress(capacities: Iterable[int]) -> Iterator[int]:
    """Says on a terminal how far the replay is."""
    listed = list(capacities)
    shown = sys.stderr.isatty()
    for number, capacity in enumerate(listed, 1):
        if shown:
            print(f"\rcache size {number} of {len(listed)}", end="", file=sys.stderr, flush=True)
        yield capacity
    if shown:
        print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
