import pytest
from tests.insight.findings.reports import CLOCK, ORDER, RULES

from headstart.insight.findings.selection import Selection, UnknownCode, codes


def test_without_a_word_all_rules_are_asked_for() -> None:
    assert Selection().of(RULES) == [CLOCK, ORDER]


def test_a_code_is_chosen_whole_or_by_its_beginning() -> None:
    assert Selection(select=("HS1",)).of(RULES) == [CLOCK]
    assert Selection(ignore=("HS101",)).of(RULES) == [ORDER]


def test_of_select_and_ignore_the_nearer_one_decides() -> None:
    assert Selection(select=("HS101",), ignore=("HS",)).of(RULES) == [CLOCK]
    assert Selection(select=("HS",), ignore=("HS101",)).of(RULES) == [ORDER]
    assert Selection(select=("HS101",), ignore=("HS101",)).of(RULES) == []


def test_a_code_that_no_rule_has_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownCode, match="no rule HS9; there are HS101, HS210"):
        Selection(ignore=("HS9",)).of(RULES)


def test_codes_are_given_one_by_one_or_with_commas() -> None:
    assert codes(["hs101, HS2", "HS3"]) == ("HS101", "HS2", "HS3")
