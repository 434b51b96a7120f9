"""Replays for a person or a program: the report on stdout, one line on stderr if there is none."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from headstart.insight.replay.capacity import Capacity, parse_capacity
from headstart.insight.replay.lines import TraceError, from_stdin
from headstart.insight.replay.money import Offer, offer
from headstart.insight.replay.progress import Bar
from headstart.insight.replay.render import as_csv, as_json
from headstart.insight.replay.source import Reading, Trace
from headstart.insight.replay.study import Question, study
from headstart.insight.replay.text import as_text

FINE, FINDING, IMPOSSIBLE, UNKNOWN = 0, 1, 2, 3
"""Exit statuses: also a replay with a finding, or without a price, is printed."""
STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says, as it says it."""

    traces: Sequence[Path]
    policies: Sequence[str]
    capacities: Sequence[str]
    day: datetime
    index: str = "radix"
    ttl: float | None = None
    reuse: Literal["block", "token"] = "block"
    as_served: bool | None = None
    """None: where token ids are recorded."""
    replicas: int = 1
    route: str = "prefix"
    tiers: dict[str, str] = field(default_factory=dict)
    remote: str | None = None
    kv_token_bytes: int | None = None
    bound: bool = True
    price: str | None = None
    prices: Path | None = None
    lifetime: str | None = None
    reading: Reading = field(default_factory=Reading)


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
    found = None
    if given.price is None and (given.lifetime is not None or given.prices is not None):
        raise TraceError("--lifetime and --prices say nothing without --price VENDOR/MODEL")
    if given.price is not None:
        found = offer(given.price, prices=given.prices, lifetime=given.lifetime, day=given.day)
    question = _question(given, found)
    paths = [from_stdin(directory) if path == STDIN else path for path in given.traces]
    trace = Trace(paths, given.reading)
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
        policies=given.policies,
        capacities=[size(each) for each in given.capacities],
        index=given.index,
        ttl=ttl,
        whole_blocks=given.reuse == "block",
        as_served=bool(given.as_served),
        replicas=given.replicas,
        route=given.route,
        tiers={name: size(each) for name, each in given.tiers.items()},
        remote=None if given.remote is None else size(given.remote),
        bound=given.bound,
        offer=found,
    )
