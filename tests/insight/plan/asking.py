"""Plans made in tests as the command makes them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.figure import Report
from headstart.insight.plan.given import Given, understand
from headstart.insight.plan.plan import plan

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ISSUE = Given(
    model="llama-3-8b",
    prefix=4000,
    question=200,
    gpu_memory="80GB",
    flops="400e12",
    overhead_ms=30,
)
"""The command line of issue 5, and the case that the project's sources compute."""


def ask(**changed: Any) -> Ask:
    asked, unknown = understand(replace(ISSUE, **changed), now=NOW)
    assert unknown is None
    return asked


def report(**changed: Any) -> Report:
    return plan(ask(**changed))


def usual(made: Report, key: str) -> float:
    """What the plan says the simpler formula gives."""
    told = made.figure(key).usual
    assert told is not None
    assert isinstance(told.value, int | float)
    return float(told.value)


def value(made: Report, key: str) -> float:
    figure = made.figure(key)
    assert figure.value is not None
    return float(figure.value)
