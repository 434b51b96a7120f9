"""`--fix` on the labelled set: what it wins against the same requests without the defect."""

import json
from functools import cache

import pytest
from tests.insight.fix.recorded import asks, causes, fixed, score
from tests.insight.labelled.build import cases
from tests.insight.labelled.case import Case

from headstart.insight.asked.detect import Signs
from headstart.insight.causes import Cause
from headstart.insight.fix.guard import guard

ENOUGH = 0.9
"""Of what the twin reads."""
WHOLLY = (
    Cause.WHITESPACE,
    Cause.LINE_ENDS,
    Cause.UNICODE_FORM,
    Cause.INVISIBLE,
    Cause.JSON_ORDER,
    Cause.TOOL_ORDER,
    Cause.KEY_ORDER,
    Cause.TOO_MANY_MARKERS,
    Cause.LOOKBACK,
    Cause.MARKER_REFUSED,
)
"""Causes of which every case can be fixed."""
IN_TURNS = ("in-first-message", "in-the-message", "question-before-rules")
"""Turns are never edited."""


def signs(case: Case) -> Signs:
    return Signs(provider=case.vendor, format=case.format)


@cache
def labelled() -> list[Case]:
    """Made once."""
    return [*cases()]


def some(causes: tuple[Cause, ...], most: int) -> list[Case]:
    """So many of each cause, of as many dialects as there are."""
    picked: list[Case] = []
    for cause in causes:
        fitting = [
            case
            for case in labelled()
            if case.cause is cause and case.twin and len(case.bodies) > 1
        ]
        step = max(1, len(fitting) // most)
        picked += fitting[::step][:most]
    return picked


def wins(case: Case) -> bool:
    """Whether most of what the twin reads is read; that the guard holds is asserted."""
    found, after = fixed(case.bodies, signs(case))
    for before, now in zip(asks(case.bodies, signs(case)), after, strict=True):
        guard(before, now)
    again = asks([now.body for now in after], signs(case))
    assert score([now.body for now in again], signs(case)).read == found.after.read
    won = found.after.read >= ENOUGH * score(case.twin, signs(case)).read
    if won:
        assert case.cause not in causes(again), case.name
    return won


@pytest.mark.slow
def test_what_only_looks_different_is_fixed_wholly() -> None:
    picked = some(WHOLLY, 2)
    assert len(picked) >= 20
    assert [case.name for case in picked if not wins(case)] == []


@pytest.mark.slow
def test_values_of_now_leave_the_front() -> None:
    values = (Cause.CLOCK, Cause.DATE, Cause.IDENTIFIER, Cause.COUNTER, Cause.NONCE)
    picked = [
        case
        for case in some(values, 9)
        # Where tools answer last, the last message of the user's is far before the end.
        if "in-" not in case.name and "chinese-full" not in case.name
        if case.dialect != "responses"
    ]
    assert len(picked) >= 12
    assert [case.name for case in picked if not wins(case)] == []


@pytest.mark.slow
def test_markers_are_moved_and_added() -> None:
    picked = [
        case
        for case in some((Cause.NO_MARKER, Cause.MARKER_AFTER_VOLATILE), 6)
        # A string of instructions can't carry a marker.
        if case.dialect != "responses"
    ]
    assert len(picked) >= 5
    assert [case.name for case in picked if not wins(case)] == []


@pytest.mark.slow
def test_turns_are_never_edited() -> None:
    picked = [case for case in labelled() if case.name.split("/")[2].startswith(IN_TURNS)][::5]
    assert len(picked) >= 6
    for case in picked:
        found, after = fixed(case.bodies, signs(case))
        assert case.cause in found.left
        assert [now.body for now in after] == list(case.bodies)


@pytest.mark.slow
def test_what_is_healthy_stays_as_it_is() -> None:
    picked = [case for case in labelled() if case.cause is None][::8]
    assert len(picked) >= 8
    for case in picked:
        found, after = fixed(case.bodies, signs(case))
        assert not found.plan, case.name
        assert json.dumps([now.body for now in after]) == json.dumps(list(case.bodies))


@pytest.mark.parametrize("cause", [Cause.WORDING, Cause.MODEL, Cause.TOOLS_CHANGED, Cause.WINDOW])
def test_what_only_the_program_can_mend_is_told_so(cause: Cause) -> None:
    (case,) = some((cause,), 1)
    found, after = fixed(case.bodies, signs(case))
    assert "not from the requests alone" in found.left[cause]
    assert [now.body for now in after] == list(case.bodies)
