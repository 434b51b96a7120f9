import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.causes import Cause
from headstart.insight.compare.volatile import Suspects, suspects, value_at

MAIL = "Mon, 30 Nov 2026 09:14:03 +0000"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
BILLING = "x-anthropic-billing-header: cc_version=2.1.119.47e; cc_entrypoint=cli; cch=a7754;"
LINES = ["Current time: 9:03 AM", f"request id {UUID}", "Today is 2026-11-30", "nonce: 9f3a77"]


@pytest.mark.parametrize(
    ("text", "cause", "value"),
    [
        ("Current time: 2026-10-24T09:00:01Z", Cause.CLOCK, "2026-10-24T09:00:01Z"),
        (f"Current date: {MAIL}", Cause.CLOCK, MAIL),
        ("It is now 9:14 PM", Cause.CLOCK, "9:14 PM"),
        ("当前时间：上午9点14分", Cause.CLOCK, "上午9点14分"),
        ("timestamp 1796029000", Cause.CLOCK, "1796029000"),
        ("Today is November 30, 2026", Cause.DATE, "November 30, 2026"),
        ("Today is 11/30/2026", Cause.DATE, "11/30/2026"),
        ("今天是2026年11月30日 星期一", Cause.DATE, "2026年11月30日 星期一"),
        (f"request id {UUID}", Cause.IDENTIFIER, UUID),
        ("nonce: 9f3a77", Cause.NONCE, "nonce: 9f3a77"),
        (BILLING, Cause.CLIENT_LINE, BILLING),
        ("You are on turn 17 of this chat", Cause.COUNTER, "turn 17"),
        ("Current time: 9:03 AM", Cause.CLOCK, "9:03 AM"),
        ("It is now 9am in Berlin", Cause.CLOCK, "9am"),
        ("Timestamp: 1764494051123456", Cause.CLOCK, "1764494051123456"),
        ('{"ts": 1764494051}', Cause.CLOCK, "1764494051"),
        ("Today is 30-Nov-2026", Cause.DATE, "30-Nov-2026"),
        ("Today's date is 20261130", Cause.DATE, "20261130"),
        ("Date: Montag, 30. Oktober 2026", Cause.DATE, "30. Oktober 2026"),
        ("Date: le 30 novembre 2026", Cause.DATE, "30 novembre 2026"),
        ("今天是二〇二六年十一月三十日", Cause.DATE, "二〇二六年十一月三十日"),
        ("今天是十一月三十日", Cause.DATE, "十一月三十日"),
        ("Random seed: 0.094822", Cause.NONCE, "Random seed: 0.094822"),
        ("session: 01JDZQR0W2BC7FXPPGX6QJ2V5D", Cause.IDENTIFIER, "01JDZQR0W2BC7FXPPGX6QJ2V5D"),
        ("Request-ID: 3f2a9c1e7b", Cause.IDENTIFIER, "3f2a9c1e7b"),
        ("本次请求ID：8f2c1d9a", Cause.IDENTIFIER, "8f2c1d9a"),
        ("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         Cause.IDENTIFIER, "4bf92f3577b34da6a3ce929d0e0e4736"),
    ],
)  # fmt: skip
def test_a_value_of_now_is_suspected(text: str, cause: Cause, value: str) -> None:
    (spot,) = suspects(f"You are kind.\n{text}\nBe brief.")
    assert spot.cause is cause
    assert value in spot.of(f"You are kind.\n{text}\nBe brief.")


@pytest.mark.parametrize(
    "text",
    [
        "Knowledge cutoff: 2025-06-01",
        "Released on 2024-03-04, as version 3.1",
        "We are open from 09:00 to 17:30",
        "Write dates like 2026-11-30 in ISO format",
        "Section 17 of the act",
        "See commit deadbeefdeadbeef",
        "截止日期 2025年6月1日 之前",
        "Add salt to the water",
        "The random seed must be fixed",
        "In a seed round of financing",
        "Time slots: 9:00, 10:00, 11:00",
        "会议时间：每周一上午9点",
        "生效日期：2024年1月1日",
    ],
)
def test_a_value_that_is_always_the_same_is_not_suspected(text: str) -> None:
    assert not list(suspects(text))


def test_a_value_is_found_without_the_space_before_it() -> None:
    (spot,) = suspects("Current time: 9:03 AM")
    assert spot.of("Current time: 9:03 AM") == "9:03 AM"


def test_the_value_at_a_character_is_found_whole() -> None:
    text = "At 09:14:03 we begin."
    for at in range(3, 11):
        spot = value_at(text, at)
        assert spot is not None
        assert spot.of(text) == "09:14:03"
    assert value_at(text, 14) is None


@given(st.lists(st.sampled_from([*LINES, "Be kind.", ""]), max_size=12), st.integers(1, 4))
def test_what_is_remembered_of_lines_changes_nothing_however_few_they_are(
    lines: list[str], most: int
) -> None:
    remembering = Suspects(most, longest=30)
    for end in range(len(lines) + 1):
        text = "\n".join(lines[:end])
        assert list(remembering(text)) == list(suspects(text))
