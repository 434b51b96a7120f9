"""What keeps tokens from being read: each cause planted, and what mending it would save."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.insight.report.logs import (
    SONNET,
    START,
    bare,
    chat,
    chat_usage,
    claude,
    messages_usage,
    words,
    write,
)

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.report.document import Document
from headstart.insight.report.main import Given, report
from headstart.insight.report.pricing import reading
from headstart.ledger import Account

PRICES = """
[models.anthropic."claude-sonnet-4-5"]
input = 3
output = 15
read = 0.3
written = { 5m = 3.75, 1h = 6 }
"""


def told(tmp_path: Path, lines: list[Any], **given: Any) -> Document:
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    path = write(tmp_path / "log.jsonl", lines)
    document, troubles = report(Given([path], prices=prices, **given), today=date(2026, 11, 30))
    assert not troubles
    return document


def levers(document: Document) -> list[tuple[str, int, Any]]:
    """(cause, tokens, money), in their order."""
    try:
        table = document.table("levers")
    except KeyError:
        return []
    return [(str(row[1]), int(str(row[5])), row[6]) for row in table.rows]


def turns(
    times: list[float], usage: Any, *, count: int = 3000, **beside: Any
) -> list[dict[str, Any]]:
    """One session that only grows, of Claude's, without bodies."""
    lines = []
    for number, moment in enumerate(times):
        prompt = count * (number + 1)
        lines.append(
            bare(usage(prompt, count * number), time=moment, session="s1")
            | {"tenant": "t", **beside}
        )
    return lines


@pytest.mark.parametrize("clock", ["{0:02d}:{0:02d}:07", "2026-10-24T{0:02d}:00:01Z"])
def test_a_clock_in_the_instructions_is_named_with_what_stands_behind_it(
    tmp_path: Path, clock: str
) -> None:
    """A peer's dates ended at a word's end, and a `T` is none."""
    rules = words("rule", 2000)
    lines = [
        claude(f"It is {clock.format(hour)}. {rules}", "q", messages_usage(10, 0, 4000), time=START)
        for hour in range(3, 9)
    ]
    found = told(tmp_path, lines)
    cause, tokens, money = levers(found)[0]
    assert cause == Cause.CLOCK
    # Five of six requests; nearly all of the 4,010 tokens stand behind the clock.
    assert 5 * 3900 < tokens <= 5 * 4010
    # Read instead of written: 3.75 - 0.30 dollars a million.
    assert float(money) == pytest.approx(tokens * 3.45e-6, rel=0.01)
    assert any(ABOUT[Cause.CLOCK].code in each for each in found.findings)


def test_a_session_that_pauses_longer_than_its_lifetime_expires(tmp_path: Path) -> None:
    def cold(prompt: int, before: int) -> Any:
        return messages_usage(0, 0, prompt)

    lines = turns([START, START + 600, START + 1200], cold)
    ((cause, tokens, money),) = levers(told(tmp_path, lines))
    assert (cause, tokens) == (Cause.EXPIRED, 3000 + 6000)
    assert float(money) == pytest.approx(9000 * 3.45e-6)


def test_another_replica_is_scatter(tmp_path: Path) -> None:
    def cold(prompt: int, before: int) -> Any:
        return messages_usage(0, 0, prompt)

    lines = turns([START, START + 10, START + 20], cold)
    for number, line in enumerate(lines):
        line["route"] = f"replica-{number}"
    assert levers(told(tmp_path, lines))[0][:2] == (Cause.SCATTERED, 9000)


def test_another_model_within_a_session_is_a_switch(tmp_path: Path) -> None:
    def cold(prompt: int, before: int) -> Any:
        return messages_usage(0, 0, prompt)

    lines = turns([START, START + 10, START + 20], cold)
    lines[1]["model"] = "claude-opus-4-5"
    found = levers(told(tmp_path, lines))
    assert {cause for cause, _, _ in found} == {Cause.MODEL}
    assert sum(tokens for _, tokens, _ in found) == 9000


def test_what_the_server_said_goes_before_what_may_be_guessed(tmp_path: Path) -> None:
    system = words("s", 2000)
    body = {"time": START, "provider": "headstart"}
    lines = [
        chat(system, "q1", usage=chat_usage(4000, 0), reason="never_seen", **body),
        chat(system, "q2", usage=chat_usage(4000, 0), reason="evicted", **body),
    ]
    assert levers(told(tmp_path, lines))[0][0] == Cause.EVICTED


def test_a_cause_that_the_recording_does_not_tell_is_not_made_up(tmp_path: Path) -> None:
    system = words("s", 2000)
    lines = [chat(system, f"q{n}", usage=chat_usage(4000, 0), time=START + n) for n in range(3)]
    found = told(tmp_path, lines)
    assert levers(found)[0][0] == "not known from this"
    assert found.findings == []


def test_no_marker_is_named_by_the_contract(tmp_path: Path) -> None:
    system = words("s", 2000)
    lines = [
        claude(system, f"q{n}", messages_usage(4000, 0), marked=False, time=START + n)
        for n in range(3)
    ]
    assert levers(told(tmp_path, lines))[0][0] == Cause.NO_MARKER


def test_what_is_written_and_never_read_costs_its_fee(tmp_path: Path) -> None:
    lines = [
        claude(words(f"a{n}b", 2000), "q", messages_usage(0, 0, 4000), time=START + n)
        for n in range(3)
    ]
    for line in lines:
        line["body"]["tools"] = []
    found = {cause: (tokens, money) for cause, tokens, money in levers(told(tmp_path, lines))}
    # One prefix each: nobody can say that they won't come back.
    assert Cause.NEVER_READ not in found
    bare_lines = [bare(messages_usage(0, 0, 4000)) for _ in range(3)]
    ((cause, tokens, money),) = levers(told(tmp_path, bare_lines))
    assert (cause, tokens) == (Cause.NEVER_READ, 12_000)
    assert float(money) == pytest.approx(12_000 * 0.75e-6)


def test_what_two_tenants_never_read_is_one_row_with_both_of_their_fees(tmp_path: Path) -> None:
    lines = [bare(messages_usage(0, 0, 4000), tenant=name) for name in ("a", "a", "b", "b", "c")]
    ((cause, tokens, money),) = levers(told(tmp_path, lines))
    # A single request of a third tenant tells nothing yet.
    assert (cause, tokens) == (Cause.NEVER_READ, 16_000)
    assert float(money) == pytest.approx(16_000 * 0.75e-6)


def test_a_log_where_all_is_well_has_no_lever(tmp_path: Path) -> None:
    def warm(prompt: int, before: int) -> Any:
        return messages_usage(0, before, prompt - before)

    found = told(tmp_path, turns([START, START + 60, START + 120], warm))
    assert levers(found) == []
    assert found.status == 0


def test_levers_are_ranked_by_money_then_by_tokens(tmp_path: Path) -> None:
    """More tokens of a model without a price come behind fewer with one."""

    def cold(prompt: int, before: int) -> Any:
        return messages_usage(0, 0, prompt)

    small = turns([START, START + 600], cold)
    large = turns([START, START + 600], cold, count=9000, session="s2", model="claude-unheard-of")
    found = levers(told(tmp_path, [*large, *small]))
    assert [tokens for _, tokens, _ in found] == [3000, 9000]
    assert found[1][2] is None


def test_a_lever_is_a_finding_from_five_percent_on(tmp_path: Path) -> None:
    def cold(prompt: int, before: int) -> Any:
        return messages_usage(0, 0, prompt)

    expired = turns([START, START + 600], cold)
    assert told(tmp_path, expired).status == 1
    rest = [bare(messages_usage(0, 1_000_000, 0, 100)) for _ in range(3)]
    assert told(tmp_path, [*expired, *rest]).status == 0


@pytest.mark.parametrize(
    ("account", "tokens", "better"),
    [
        (Account(100, 0, 5, {"5m": 60}), 50, Account(100, 50, 5, {"5m": 10})),
        (Account(100, 0, 5, {"5m": 60}), 80, Account(100, 80, 5, {"5m": 0})),
        (Account(100, 90, 5), 50, Account(100, 100, 5)),
    ],
)
def test_what_would_have_been_read_is_neither_written_nor_computed(
    account: Account, tokens: int, better: Account
) -> None:
    assert reading(account, tokens) == better


def half(session: str, number: int, moment: float, model: str, read: bool) -> dict[str, Any]:
    prompt = 2000 * (number + 1)
    usage = messages_usage(0, 2000 * number if read else 0, prompt - (2000 * number if read else 0))
    return bare(usage, model, session=session, time=moment)


def test_a_model_stuck_near_a_half_is_called_out_with_its_cause(tmp_path: Path) -> None:
    """Sessions of eight turns; at every other pause the entry expires."""
    lines = []
    moment = START
    for session in range(4):
        for number in range(8):
            late = number % 2 == 0
            moment += 400 if late else 20
            lines.append(half(f"s{session}", number, moment, SONNET, not late))
    found = told(tmp_path, lines)
    rate = found.figure("token_hit_rate").value
    assert isinstance(rate, float)
    assert 0.35 < rate < 0.65
    (line,) = [each for each in found.advice if "is stuck at" in each]
    assert line.startswith(f"{SONNET} is stuck at")
    assert "it had expired" in line


def test_short_sessions_are_why_a_model_can_be_stuck_though_all_is_well(tmp_path: Path) -> None:
    lines: list[Any] = []
    for session in range(12):
        begin = [words(f"a{session:02d}x", 1000)]
        second = [*begin, words(f"b{session:02d}x", 10), words(f"c{session:02d}x", 300)]
        lines.append(chat("s", *begin, usage=chat_usage(3000, 0, 30), session=f"s{session}"))
        lines.append(chat("s", *second, usage=chat_usage(3900, 2944, 30), session=f"s{session}"))
    found = told(tmp_path, lines)
    (line,) = [each for each in found.advice if "is stuck at" in each]
    assert "sessions are short" in line


def test_sessions_show_what_their_length_lets_expect(tmp_path: Path) -> None:
    """Three turns of one size: 2/4. Read was all that came before: 3,000 + 6,000 of 18,000."""

    def warm(prompt: int, before: int) -> Any:
        return messages_usage(0, before, prompt - before)

    found = told(tmp_path, turns([START, START + 60, START + 120], warm))
    assert found.figure("turns").value == 3
    assert found.figure("expected").value == pytest.approx(0.5)
    assert found.figure("sessions_actual").value == pytest.approx(9 / 18)


def test_sessions_without_ids_are_told_by_what_they_go_on_from(tmp_path: Path) -> None:
    lines = []
    for session in range(2):
        said = [words(f"s{session}t{turn}w", 50) for turn in range(5)]
        lines += [chat("s", *said[: 2 * turn + 1], usage=chat_usage(99, 0)) for turn in range(3)]
    found = told(tmp_path, lines)
    assert found.figure("sessions").value == 2
    assert found.figure("turns").value == 3


def test_money_is_exact(tmp_path: Path) -> None:
    lines = [bare(messages_usage(1, 0, 0, 0)) for _ in range(3)]
    assert told(tmp_path, lines).figure("paid").value == Decimal("0.000009")
