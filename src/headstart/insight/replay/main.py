"""Replays for a person or a program: the report on stdout, one line on stderr if there is none."""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

from headstart.insight.replay.capacity import Capacity, parse_capacity
from headstart.insight.replay.given import Given, refuse_idle, refuse_idle_reading
from headstart.insight.replay.lines import TraceError, from_stdin
from headstart.insight.replay.money import Offer, offer
from headstart.insight.replay.progress import Bar
from headstart.insight.replay.render import as_csv, as_json
from headstart.insight.replay.source import Trace
from headstart.insight.replay.study import Question, study
from headstart.insight.replay.text import as_text

__all__ = ["FINDING", "FINE", "IMPOSSIBLE", "UNKNOWN", "Given", "main"]

FINE, FINDING, IMPOSSIBLE, UNKNOWN = 0, 1, 2, 3
"""Exit statuses: also a replay with a finding, or without a price, is printed."""
STDIN = Path("-")


def main(given: Given, *, form: Literal["text", "json", "csv"], plot: Path | None) -> int:
    """The exit status."""
    try:
        with tempfile.TemporaryDirectory(prefix="headstart-") as directory:
            return _replay(given, form, plot, Path(directory))
    except TraceError as error:
        print(f"headstart replay: {error}", file=sys.stderr)
        return IMPOSSIBLE


def _replay(
    given: Given, form: Literal["text", "json", "csv"], plot: Path | None, directory: Path
) -> int:
    if plot is not None:
        from headstart.insight.replay.plot import check_ending

        check_ending(plot)
    refuse_idle(given)
    found = None
    if given.price is not None:
        day = given.now if given.as_of is None else given.as_of
        found = offer(given.price, prices=given.prices, lifetime=given.lifetime, day=day)
    question = _question(given, found)
    paths = [from_stdin(directory) if path == STDIN else path for path in given.traces]
    trace = Trace(paths, given.reading)
    refuse_idle_reading(given.reading, trace)
    if given.as_served is None:
        question = replace(question, as_served=trace.tokens)
    with Bar(trace.size) as bar:
        report = study(trace, question, bar.begins)
    if plot is not None:
        from headstart.insight.replay.plot import draw

        draw(report, plot)
    print(
        {"text": as_text, "json": as_json, "csv": as_csv}[form](report),
        end="" if form == "csv" else "\n",
    )
    unknown = given.price is not None and any(point.money is None for point in report.points)
    if unknown:
        print(f"headstart replay: the price of {given.price} is unknown.", file=sys.stderr)
    if report.findings:
        return FINDING
    return UNKNOWN if unknown else FINE


def _question(given: Given, found: Offer | None) -> Question:
    def size(text: str) -> Capacity:
        return parse_capacity(text, given.kv_token_bytes)

    ttl = given.ttl
    if ttl is None and found is not None:
        ttl = found.ttl  # What the vendor has dropped is not read.
    return Question(
        policies=list(dict.fromkeys(given.policies)),
        capacities=list(dict.fromkeys(map(size, given.capacities))),
        index=given.index,
        ttl=ttl,
        whole_blocks=given.reuse == "block",
        as_served=bool(given.as_served),
        replicas=given.replicas,
        route=given.route or "prefix",
        tiers={name: size(each) for name, each in given.tiers.items()},
        remote=None if given.remote is None else size(given.remote),
        bound=given.bound,
        offer=found,
    )
