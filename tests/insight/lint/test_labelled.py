"""Every planted defect is named, and nothing else is (tests/insight/labelled)."""

import pytest
from tests.insight.labelled.build import cases, logs
from tests.insight.labelled.case import DIALECTS, Dialect, Labelled
from tests.insight.lint.heard import causes


def wrong(each: Labelled) -> str | None:
    named = causes(each.lines(), each.vendor)
    true = {*each.also, *([each.cause] if each.cause else [])}
    if named <= true and (named or each.cause is None):
        return None
    return f"{each.name}: {each.cause or 'nothing'} was planted, named were {sorted(named)}"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_planted_defect_is_named_and_no_healthy_request_is(dialect: Dialect) -> None:
    these = [each for each in cases() if each.dialect == dialect]
    assert len({each.cause for each in these}) > 25
    assert [said for each in these if (said := wrong(each))] == []


@pytest.mark.slow
def test_in_logs_of_forty_requests_too() -> None:
    assert [said for each in logs() if (said := wrong(each))] == []


@pytest.mark.slow
def test_without_what_was_planted_nothing_is_named() -> None:
    twins = [each for each in cases(1) if each.twin][::5]
    assert {each.name for each in twins if causes(each.twin, each.vendor)} == set()
