"""No case of the list is forgotten: a test is named after it, or the README says why none can be.

The list is the project's reference of field failures; its other kinds belong to later rooms.
"""

import re
from pathlib import Path

CASES = {
    "ID": (1, 3, 5, 6, 8, 9, 10, 12, 14, 16),
    "LIFE": (1, 2, 4, 5, 6, 9, 11, 13, 15),
    "FEAT": (1, 4, 5, 7, 9, 11, 12, 14, 15, 16, 17, 19),
    "PUB": (1, 3, 4, 6, 8, 10, 12, 13),
    "EDGE": (1, 4, 5, 7, 9, 11),
    "SCHED": (1, 3, 4, 6, 8, 10, 11, 14, 15),
    "TIER": (1, 2, 4, 6, 7, 8, 9, 11),
    "EXT": (1, 3, 5, 7, 8, 10, 12, 14, 15),
    "STAB": (1, 2, 3, 5, 8, 10, 12, 14, 16, 17),
    "ACCT": (1, 2, 4, 5, 8, 10, 12, 13, 14, 16, 17, 18),
    "API": (1, 4, 6, 7, 9, 10, 12, 14, 15, 16, 19, 20),
    "TURN": (1, 2, 5, 6, 9, 10),
}
LISTED = {f"{kind}-{number:02}" for kind, numbers in CASES.items() for number in numbers}

HERE = Path(__file__).parent
TEST = re.compile(rf"^(?:async )?def test_({'|'.join(CASES).lower()})_(\d\d)_", re.MULTILINE)
ROW = re.compile(r"^\| ([A-Z]+-\d\d) \| .+ \| .+ \|$", re.MULTILINE)


def with_a_test() -> set[str]:
    texts = (path.read_text() for path in HERE.parent.rglob("test_*.py"))
    return {f"{kind.upper()}-{number}" for text in texts for kind, number in TEST.findall(text)}


def without_surface() -> set[str]:
    return set(ROW.findall((HERE / "README.md").read_text()))


def test_every_case_has_a_test_or_a_reason_why_it_can_have_none() -> None:
    assert len(LISTED) == 111
    assert LISTED - with_a_test() - without_surface() == set()


def test_no_case_has_both_a_test_and_an_excuse() -> None:
    assert without_surface() & with_a_test() == set()


def test_no_test_and_no_row_is_about_a_case_nobody_listed() -> None:
    assert (with_a_test() | without_surface()) - LISTED == set()
