"""Probes for a person or a program: the report on stdout, the cost and failures on stderr."""

import os
import sys
import time
from datetime import UTC, datetime
from typing import Literal

from rich.console import Console

from headstart.insight.probe.endpoint import Clock
from headstart.insight.probe.given import Given
from headstart.insight.probe.probe import OverBudget, probe
from headstart.insight.probe.render import as_csv, as_json, as_text
from headstart.insight.probe.verdict import FINDING, IMPOSSIBLE
from headstart.insight.progress import ProgressBar
from headstart.insight.wire import EndpointError

__all__ = ["Given", "main"]

INTERRUPTED = 130


def main(given: Given, *, form: Literal["text", "json", "csv"]) -> int:
    """The exit status."""
    clock = Clock(time.perf_counter, time.sleep, _wall)
    try:
        with ProgressBar(Console(stderr=True)) as bar:
            report = probe(given, clock=clock, environ=os.environ, watcher=bar)
    except EndpointError as error:
        print(f"headstart probe: {error}", file=sys.stderr)
        return IMPOSSIBLE
    except OverBudget as error:
        print(f"headstart probe: {error}", file=sys.stderr)
        return FINDING
    except KeyboardInterrupt:
        return INTERRUPTED
    render = {"text": as_text, "json": as_json, "csv": as_csv}[form]
    print(render(report), end="" if form == "csv" else "\n")
    return report.status


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
