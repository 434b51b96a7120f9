import pytest
from tests.insight.findings.reports import BEYOND, BROKEN, FIRST, SECOND, report

from headstart.insight.findings.report import FailOn, exit_code


def test_no_finding_is_0_and_a_finding_is_1() -> None:
    assert exit_code(report()) == 0
    assert exit_code(report(SECOND)) == 1


def test_what_could_not_be_read_is_2_even_beside_findings() -> None:
    assert exit_code(report(FIRST, problems=(BROKEN,))) == 2


def test_what_was_not_judged_is_3_but_a_finding_goes_before_it() -> None:
    assert exit_code(report(abstained=(BEYOND,))) == 3
    assert exit_code(report(SECOND, abstained=(BEYOND,))) == 1


def test_nothing_to_judge_is_not_clean() -> None:
    assert exit_code(report(checked=0)) == 3


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("error", True, False),
        ("warning", True, True),
        ("note", True, True),
        ("HS2", False, True),
        ("HS999", False, False),
        ("error, HS210", True, True),
    ],
)
def test_fail_on_names_a_severity_or_codes(text: str, first: bool, second: bool) -> None:
    fail_on = FailOn.parse(text)
    assert (fail_on(FIRST), fail_on(SECOND)) == (first, second)
    assert exit_code(report(FIRST), fail_on) == int(first)
