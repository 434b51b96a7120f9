from typing import Any

import pytest
from tests.insight.lint.heard import causes, findings

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.findings.finding import Evidence
from headstart.insight.shown import redacted

RULES = " ".join(f"Rule {n}: be brief, be kind, cite paragraph {n * 7}." for n in range(1, 200))


def body(system: str, *said: str, **fields: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    system_turn = {"role": "system", "content": system}
    return {"model": "gpt-4.1", "messages": [system_turn, *turns], **fields}


def clocked(minute: int) -> dict[str, Any]:
    return body(f"Now: 2026-11-30T09:{minute:02}:00Z.\n{RULES}", f"Question {minute}?")


def test_one_defect_in_many_requests_is_one_finding_that_counts_them() -> None:
    (found,) = findings(clocked(minute) for minute in range(20))
    assert found.code == ABOUT[Cause.CLOCK].code
    assert "in 19 requests" in found.message
    assert "2026-11-30T09:00:00Z became 2026-11-30T09:01:00Z" in found.message
    assert found.evidence is Evidence.CONFIRMED
    assert (found.where.path, found.where.line) == ("log", 2)
    assert found.where.pointer == "/messages/0/content"


def test_of_one_request_alone_a_clock_is_a_suspicion() -> None:
    (found,) = findings([clocked(0)])
    assert found.evidence is Evidence.SUSPECTED


def test_an_id_that_ends_the_system_prompt_is_suspected_only_until_two_requests_are_seen() -> None:
    said = [body(f"{RULES}\n\nSession ID: {n}f3a-77c1", f"{n}? " + "Hm. " * 99) for n in range(3)]
    assert causes(said[:1]) == {Cause.IDENTIFIER}
    assert causes(said) == set()


def test_what_is_suspected_in_one_place_of_many_requests_is_one_finding() -> None:
    said = [body(f"Work in /srv/{n}.\nToday is 2026-11-1{n}.\n{RULES}", "?") for n in range(5)]
    wording, date = findings(said)
    assert {wording.code, date.code} == {ABOUT[Cause.WORDING].code, ABOUT[Cause.DATE].code}
    suspected = next(each for each in (wording, date) if each.code == ABOUT[Cause.DATE].code)
    assert suspected.evidence is Evidence.SUSPECTED
    assert "2026-11-10, and 4 others there" in suspected.message


def test_a_date_in_front_of_such_an_id_is_suspected_all_the_same() -> None:
    said = [
        body(f"Today is 2026-11-30.\n{RULES}\n\nSession ID: {n}f3a-77c1", f"{n}? " + "Hm. " * 99)
        for n in range(3)
    ]
    assert causes(said) == {Cause.DATE}


@pytest.mark.parametrize(
    "date",
    ["Last updated: 2024-03-01", "Manual, revised on March 1, 2024", "更新日期：2024年3月1日"],
)
def test_the_date_of_a_text_is_not_named_where_it_comes_again(date: str) -> None:
    said = [body(f"Date it. {date}\n{RULES}", f"{n}?") for n in range(3)]
    assert causes(said) == set()


def test_the_date_of_a_text_is_suspected_of_one_request_alone() -> None:
    (found,) = findings([body(f"Last updated: 2024-03-01\n{RULES}", "?")])
    assert (found.code, found.evidence) == (ABOUT[Cause.DATE].code, Evidence.SUSPECTED)


def test_the_date_of_a_text_that_changes_is_confirmed() -> None:
    said = [body(f"Last updated: 2024-03-0{n}\n{RULES}", f"{n}?") for n in (1, 2)]
    (found,) = findings(said)
    assert (found.code, found.evidence) == (ABOUT[Cause.DATE].code, Evidence.CONFIRMED)


@pytest.mark.parametrize(("hours", "named"), [(23, {Cause.DATE}), (25, set())])
def test_a_date_that_is_the_same_a_day_later_is_not_todays(hours: int, named: set[Cause]) -> None:
    asked = body(f"Today is 2026-11-30.\n{RULES}", "Hi")
    assert causes([{"body": asked, "time": 3600.0 * hour} for hour in (0, hours)]) == named


def test_a_redacted_report_holds_nothing_of_the_text() -> None:
    found = findings((clocked(minute) for minute in range(3)), show=redacted)
    said = " ".join([each.message + str(each.steps) for each in found])
    assert "sha256" in said
    assert "2026" not in said
    assert "Rule" not in said


def test_tenants_are_walls_that_are_not_complained_of() -> None:
    lines = [{"body": body(RULES, "Hi"), "tenant": name} for name in ("a", "b", "a", "b")]
    assert findings(lines) == []


def test_what_expired_in_between_is_no_fault_of_the_text() -> None:
    lines = [{"body": body(RULES, "Hi"), "time": time} for time in (0.0, 1e6)]
    assert findings(lines) == []


def test_an_entry_that_ran_out_is_not_said_to_be_out_of_reach() -> None:
    marked = {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}
    asked = {"model": "claude-opus-5", "max_tokens": 9, "system": [marked]}
    said = [{**asked, "messages": [{"role": "user", "content": each}]} for each in "abc"]
    late = [{"body": each, "time": 301.0 * n} for n, each in enumerate(said)]
    assert causes(late) == {Cause.EXPIRED}
    assert causes([{**each, "time": each["time"] / 2} for each in late]) == set()


def test_a_request_that_reads_as_much_from_another_breaks_nothing() -> None:
    """A branch is compared with what it grew from, not with its neighbour."""
    first = body(RULES, "One?")
    grown = body(RULES, "One?", "1. " + RULES, "Two?")
    other = body(RULES, "One?", "1. " + RULES, "Three?")
    assert causes([first, grown, other]) == set()


def test_the_order_of_findings_is_that_of_the_places() -> None:
    lines = [clocked(0), clocked(1), {**clocked(2), "model": "gpt-5.6"}]
    found = findings(lines)
    assert [each.where.line for each in found] == sorted(each.where.line or 0 for each in found)
    assert {each.code for each in found} >= {ABOUT[Cause.CLOCK].code}
