"""The loop around the state machines, with a wire that is a function."""

import json
import threading
from decimal import Decimal
from typing import Any

import pytest
from tests.insight.warm.clock import Clock
from tests.insight.warm.test_warming import BEGIN, answer, warming

from headstart.insight.warm.dialects.dialect import Call
from headstart.insight.warm.driver import AT_ONCE, Purse, drive
from headstart.insight.warm.errors import CallFailed
from headstart.insight.warm.warming import Warming


class Wire:
    """Writes 4,000 tokens when first asked by a prompt, and reads them from then on."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> bytes:
        with self._lock:
            self.calls.append(call)
            there = self.calls.count(call) > 1
        return answer(4000 * there, 4000 * (not there), 0)


def run(warmings: list[Warming], wire: Any, purse: Purse | None = None) -> list[float]:
    clock, told = Clock(BEGIN), []
    drive(
        warmings,
        wire,
        purse or Purse(),
        now=clock,
        sleep=clock.sleep,
        tell=lambda _, at, __: told.append(at),
    )
    return told


def test_many_prompts_are_kept_side_by_side() -> None:
    ours = [warming(uses=2), warming(uses=9, gaps=(600.0,))]
    told = run(ours, lambda call: answer(4000, 0, 0))
    assert [each.ended for each in ours] == ["break-even", "done"]
    assert len(told) == sum(len(each.sent) for each in ours)
    assert told == sorted(told)


def test_calls_that_are_due_together_are_under_way_together() -> None:
    barrier = threading.Barrier(AT_ONCE, timeout=5)

    def together(call: Call) -> bytes:
        barrier.wait()
        raise CallFailed("enough", again=False)

    ours = [warming() for _ in range(AT_ONCE)]
    run(ours, together)
    assert {each.ended for each in ours} == {"refused"}


# A write of 4,000 tokens at $6.25 a million is $0.025, a read $0.002.
@pytest.mark.parametrize(
    ("dollars", "calls"), [("0", 0), ("0.025", 1), ("0.0269", 1), ("0.031", 4)]
)
def test_a_budget_of_dollars_is_never_exceeded(dollars: str, calls: int) -> None:
    ours = warming(uses=50)
    run([ours], Wire(), Purse(dollars=Decimal(dollars)))
    assert ours.ended == "over budget"
    assert len(ours.sent) == calls
    assert ours.spent <= Decimal(dollars)
    assert ours.findings == [f"over budget after {calls} calls"]


def test_a_budget_of_tokens_counts_what_was_read_too() -> None:
    ours = warming(uses=50)
    run([ours], Wire(), Purse(tokens=13_000))
    assert (ours.ended, len(ours.sent)) == ("over budget", 3)


def test_a_budget_is_for_all_prompts_together() -> None:
    ours = [warming(uses=50), warming(uses=50)]
    run(ours, lambda call: answer(4000, 0, 0), Purse(tokens=9000))
    assert [len(each.sent) for each in ours] == [1, 1]


def test_an_interrupt_ends_what_runs_and_is_no_finding() -> None:
    ours, clock = [warming(uses=9), warming(uses=1)], Clock(BEGIN)

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    drive(ours, Wire(), Purse(), now=clock, sleep=interrupted, tell=lambda *_: None)
    assert [each.ended for each in ours] == ["interrupted", "too dear"]
    assert ours[0].findings == []
    assert len(ours[0].sent) == 1


@pytest.mark.parametrize("told", [json.dumps({"message": "hello"}).encode(), answer(-5), b"\xff"])
def test_an_answer_without_counters_or_with_impossible_ones_is_final(told: bytes) -> None:
    ours = warming()
    run([ours], lambda call: told)
    assert (ours.ended, ours.sent, ours.spent) == ("refused", [], 0)
    assert "an answer without counters" in ours.findings[0]


def test_an_endpoint_that_recovers_is_warmed_on() -> None:
    wire, failures = Wire(), [CallFailed("503", again=True)] * 3

    def shaky(call: Call) -> bytes:
        if failures:
            raise failures.pop()
        return wire(call)

    ours = warming(uses=2)
    told = run([ours], shaky)
    assert told[:4] == [BEGIN, BEGIN + 1, BEGIN + 3, BEGIN + 7]
    assert (ours.ended, ours.findings) == ("break-even", [])
