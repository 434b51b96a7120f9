"""The labelled set's pairs: cause, pointer and what is kept are named as the labels say."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.insight.labelled.build import cases
from tests.insight.labelled.case import Case

from headstart.insight.asked.count import Counts, Estimate
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.asked.read import read
from headstart.insight.causes import Cause
from headstart.insight.explain.history import History, Told
from headstart.insight.explain.place import Place, place
from headstart.insight.explain.verdict import Verdict, judge

NOT_OF_TWO = (Cause.NEVER_READ,)
"""It is of traffic."""

Seen = tuple[Case, Told, Verdict, Place]


@pytest.fixture(scope="module")
def seen() -> list[Seen]:
    return list(explained())


def explained() -> Iterator[Seen]:
    counts = Counts(Estimate())
    history = History(lambda asked: to_prompt(asked, counts))
    for case in cases():
        if len(case.bodies) < 2:
            continue
        signs = Signs(case.vendor, format=case.format)
        # Tenants are walls, so that one history serves all.
        before, after = (replace(read(body, signs), tenant=case.name) for body in case.bodies[-2:])
        told = history.pair(before, after)
        yield case, told, judge(told), place(before, after, told.found, told.address)


@pytest.mark.slow
def test_every_planted_defect_of_two_requests_is_named(seen: list[Seen]) -> None:
    wrong = [
        (case.name, verdict.cause, verdict.said)
        for case, _, verdict, _ in seen
        if case.kind == "defect"
        and case.cause not in NOT_OF_TWO
        and (verdict.outcome != "lost" or verdict.cause not in {case.cause, *case.also})
    ]
    assert not wrong


@pytest.mark.slow
def test_what_is_healthy_has_lost_nothing(seen: list[Seen]) -> None:
    healthy = [each for each in seen if each[0].kind == "healthy"]
    assert len(healthy) > 200
    wrong = [
        (case.name, verdict.cause, verdict.said)
        for case, _, verdict, _ in healthy
        if verdict.outcome != "nothing_lost" and verdict.cause not in case.also
    ]
    assert not wrong


@pytest.mark.slow
def test_what_diverges_does_so_at_its_pointer_behind_the_pieces_that_are_kept(
    seen: list[Seen],
) -> None:
    broken = [each for each in seen if each[0].kind == "defect" and each[1].found is not None]
    assert len(broken) > 400
    wrong = [
        (case.name, where.pointer, case.pointer, where.piece, case.kept)
        for case, _, verdict, where in broken
        if verdict.cause == case.cause
        and (
            not _is_at(where.pointer, case.pointer)
            or (case.kept is not None and where.piece != case.kept)
        )
    ]
    assert not wrong


@pytest.mark.slow
def test_what_is_refused_is_so_at_its_pointer(seen: list[Seen]) -> None:
    refused = [each for each in seen if each[0].cause is Cause.MARKER_REFUSED]
    assert len(refused) > 5
    wrong = [
        (case.name, where.pointer, case.pointer)
        for case, _, _, where in refused
        if not _is_at(where.pointer, case.pointer)
    ]
    assert not wrong


def _is_at(pointer: str, labelled: str) -> bool:
    """A result is told by its block, or by the text in it."""
    return pointer == labelled or pointer.removesuffix("/content") == labelled
