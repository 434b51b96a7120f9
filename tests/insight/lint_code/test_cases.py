import pytest
from tests.insight.lint_code.cases import DIRECTORY, Case, cases

ALL = [case for path in sorted(DIRECTORY.glob("*.md")) for case in cases(path.name)]
PLANTED = [case for case in ALL if case.codes]
INNOCENT = [case for case in ALL if not case.codes]


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name)
def test_what_is_planted_is_found_and_nothing_else(case: Case) -> None:
    assert case.found() == case.codes


@pytest.mark.parametrize("case", INNOCENT, ids=lambda case: case.name)
def test_what_is_innocent_is_no_finding(case: Case) -> None:
    assert case.found() == set()
