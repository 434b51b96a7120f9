from typing import Any

import pytest
from tests.insight.compare.build import RULES, asked

from headstart.insight.causes import Cause
from headstart.insight.compare.compare import compare

LONG = [
    f"Answer {n}: " + f"{n} apples and {n * n} pears, as was said before. " * 6 for n in range(9)
]
TOOLS = [f"{name} " + f'{{"type": "object", "of": "{name}"}}' * 8 for name in "abc"]

BILLING = "x-anthropic-billing-header: cc_version=2.1.119"


def cause(before: Any, after: Any) -> Cause | None:
    found = compare(before, after)
    return None if found is None else found.cause


def turns(count: int, first: int = 0) -> list[tuple[Any, str]]:
    """A conversation that ends in a question."""
    said: list[tuple[Any, str]] = []
    for n in range(first, first + count):
        said += [
            ("user", f"Question {n}, which is long enough to be known again?"),
            ("assistant", LONG[n]),
        ]
    return [*said, ("user", f"Question {first + count}, which is long enough to be known again?")]


def test_a_request_that_goes_on_from_another_breaks_nothing() -> None:
    before = asked(("system", RULES), *turns(2))
    assert compare(before, asked(("system", RULES), *turns(3))) is None
    assert compare(before, before) is None


def test_another_question_behind_the_same_system_prompt_breaks_nothing() -> None:
    before = asked(("system", RULES), ("user", "What is the weather on 2026-11-30?"))
    assert compare(before, asked(("system", RULES), ("user", "Who wrote Faust?"))) is None
    late = asked(("system", RULES), ("user", "What is the weather on 2026-12-01?"))
    assert compare(before, late) is None


def test_two_templates_that_share_nothing_break_nothing() -> None:
    one = asked(("system", RULES), ("user", "What is the capital of France?"))
    other = asked(("system", LONG[3] * 3), ("user", "What is the capital of France?"))
    assert compare(one, other) is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Now: 2026-11-30T09:14:03Z.", "Now: 2026-11-30T09:15:41Z.", Cause.CLOCK),
        ("Current time: 09:14:03", "Current time: 10:02:59", Cause.CLOCK),
        ("now=1796029000", "now=1796029061", Cause.CLOCK),
        ("现在是9时14分", "现在是10时2分", Cause.CLOCK),
        ("Today is Monday, 30 November 2026.", "Today is Tuesday, 1 December 2026.", Cause.DATE),
        ("今天是2026年11月30日 星期一。", "今天是2026年12月1日 星期二。", Cause.DATE),
        ("Date: 2026-11-30", "Date: 2026-12-01", Cause.DATE),
        (
            "Session 0f8fad5b-d9cb-469f-a165-70867728950e",
            "Session 7c9e6679-7425-40de-944b-e07fc1f90ae7",
            Cause.IDENTIFIER,
        ),
        ("Request req_8Kd72hQz01", "Request req_m2Pw93xUvB", Cause.IDENTIFIER),
        ("This is turn 17.", "This is turn 18.", Cause.COUNTER),
        ("seed: 848201", "seed: 120044", Cause.NONCE),
        (f"{BILLING} cc_entrypoint=cli; cch=a7754;", f"{BILLING} cc_entrypoint=cli; cch=0aaa9;",
         Cause.CLIENT_LINE),
        (f"{BILLING}.47e; cch=a7754;", f"{BILLING}.f01; cch=a7754;", Cause.CLIENT_LINE),
        (f"{BILLING} cc_entrypoint=claude-agent-sdk-python; cch=36ee5;",
         f"{BILLING} cc_entrypoint=claude-agent-sdk-python; cch=0aaa9;", Cause.CLIENT_LINE),
        ("You are Ada, the calm helper.", "You are Ada, the swift helper.", Cause.WORDING),
        ("Be kind.\r\nBe brief.\r\n", "Be kind.\nBe brief.\n", Cause.LINE_ENDS),
        ("Café rules", "Cafe\u0301 rules", Cause.UNICODE_FORM),
        ("Be\u200b kind.", "Be kind.", Cause.INVISIBLE),
        ("请简短，请友好。", "请简短,请友好。", Cause.WIDTH),
        ("Be kind. \nBe brief.", "Be kind.\nBe brief.", Cause.WHITESPACE),
        ('Config: {"a": 1, "b": [2]}', 'Config: {"b": [2], "a": 1}', Cause.JSON_ORDER),
    ],
)  # fmt: skip
def test_what_changed_early_in_the_system_prompt_is_named(
    before: str, after: str, expected: Cause
) -> None:
    found = compare(
        asked(("system", f"{before}\n{RULES}"), ("user", "Hello?")),
        asked(("system", f"{after}\n{RULES}"), ("user", "Why?")),
    )
    assert found is not None
    assert found.cause is expected
    assert found.index == 0
    assert found.lost_within >= len(RULES)


def test_the_values_are_shown_whole_though_they_differ_in_one_digit() -> None:
    found = compare(
        asked(("system", f"Now: 2026-11-30T09:14:03Z.\n{RULES}")),
        asked(("system", f"Now: 2026-11-30T09:14:04Z.\n{RULES}")),
    )
    assert found is not None
    assert (found.before, found.after) == ("2026-11-30T09:14:03Z", "2026-11-30T09:14:04Z")
    assert found.at == len("Now: 2026-11-30T09:14:0")


def test_a_clock_at_the_end_of_a_system_prompt_loses_the_history() -> None:
    before = asked(("system", RULES + "\nIt is 09:14:03."), *turns(2))
    after = asked(("system", RULES + "\nIt is 09:15:41."), *turns(3))
    found = compare(before, after)
    assert found is not None
    assert found.cause is Cause.CLOCK
    assert len(found.lost) == 5


def test_a_clock_at_the_end_with_nothing_behind_it_breaks_nothing() -> None:
    before = asked(("system", RULES + "\nIt is 09:14:03."), ("user", "Hello, is anybody there?"))
    after = asked(("system", RULES + "\nIt is 09:15:41."), ("user", "Who wrote Faust?"))
    assert compare(before, after) is None


def test_changes_of_tools_are_told_apart() -> None:
    def tools(*texts: str) -> Any:
        return asked(*(("tool", text) for text in texts), ("system", RULES), ("user", "Go"))

    a, b, c = TOOLS
    assert cause(tools(a, b, c), tools(b, a, c)) is Cause.TOOL_ORDER
    assert cause(tools(a, b, c), tools(a, c)) is Cause.TOOLS_CHANGED
    assert cause(tools(a, b, c), tools(a, b + " more", c)) is Cause.TOOL_DEFINITION
    assert cause(tools(a, b, c), tools(a, b + " at 2026-11-30T09:00:00Z", c)) is not None


def test_changes_of_a_conversation_are_told_apart() -> None:
    system = ("system", RULES)
    whole = turns(5)
    edited = [
        *whole[:2],
        ("user", "Quite another question was asked at this place, see?"),
        *whole[3:],
    ]
    assert cause(asked(system, *whole), asked(system, *edited)) is Cause.HISTORY_EDITED
    assert cause(asked(system, *whole), asked(system, *turns(5, first=1))) is Cause.WINDOW
    summary = ("user", "So far we spoke of apples and pears, and agreed on most of it.")
    short = [summary, *whole[-3:], ("assistant", LONG[7]), ("user", "Next?")]
    assert cause(asked(system, *whole), asked(system, *short)) is Cause.COMPACTION


def test_a_window_that_drops_one_message_is_a_window_and_one_cut_out_is_an_edit() -> None:
    said = turns(4)
    before = asked(("system", RULES), *said)
    assert cause(before, asked(("system", RULES), *said[1:], ("user", "And?"))) is Cause.WINDOW
    cut = asked(("system", RULES), *said[:1], *said[2:], ("user", "And?"))
    assert cause(before, cut) is Cause.HISTORY_EDITED


def test_lines_that_are_added_to_a_system_prompt_change_it_and_are_no_other_wording() -> None:
    facts = [f"- Fact {n}: the guest likes tea of kind {n}.\n" for n in range(3)]
    before, after = (f"# Memory\n{''.join(facts[:n])}\n{RULES}" for n in (2, 3))
    found = [asked(("system", text), ("user", "Hello?")) for text in (before, after)]
    assert cause(*found) is Cause.SYSTEM_CHANGED
    assert cause(*found[::-1]) is Cause.SYSTEM_CHANGED


def test_documents_that_come_in_another_order_are_named_unless_they_come_last() -> None:
    docs = [f"<doc id={n}>" + f"Passage {n} tells of {n} things. " * 9 + "</doc>" for n in range(3)]
    ranked = ["\n\n".join([*each, "Who?"]) for each in (docs, docs[::-1])]
    last = [asked(("system", RULES), ("user", text)) for text in ranked]
    assert cause(*last) is None
    first = [asked(("system", RULES), ("user", text), *turns(n)) for n, text in enumerate(ranked)]
    assert cause(*first) is Cause.RETRIEVAL_ORDER


def test_passages_before_what_stays_are_named_and_behind_it_are_not() -> None:
    tea, rain = (f"About {it}: " + f"{it} is a matter of its own. " * 20 for it in ("tea", "rain"))
    early = [asked(("system", text), ("system", RULES), ("user", "?")) for text in (tea, rain)]
    assert cause(*early) is Cause.ORDER
    found = [
        asked(("system", f"<document>{text}</document>"), ("system", RULES), ("user", "?"))
        for text in (tea, rain)
    ]
    assert cause(*found) is Cause.RETRIEVAL
    late = [asked(("system", RULES), ("user", f"{text}\nQuestion?")) for text in (tea, rain)]
    assert cause(*late) is None


def test_a_model_a_cache_key_and_a_tenant_keep_apart() -> None:
    said = (("system", RULES), ("user", "Hello"))
    assert cause(asked(*said), asked(*said, model="gpt-6-sol")) is Cause.MODEL
    keys = [asked(*said, partition=key) for key in ("a", "b")]
    assert cause(*keys) is Cause.CACHE_KEY
    old = [asked(*said, partition=key, model="gpt-4.1") for key in ("a", "b")]
    assert cause(*old) is None  # Rule O14: there it only guides routing.
    assert cause(asked(*said, tenant="a"), asked(*said, tenant="b")) is Cause.NAMESPACE


def test_a_setting_breaks_what_its_vendor_says_it_breaks() -> None:
    said = (("tool", TOOLS[0]), ("system", RULES), *turns(1))
    choices = [{"tool_choice": f'{{"type":"{each}"}}'} for each in ("auto", "any")]
    claude = [
        asked(*said, vendor="anthropic", model="claude-opus-5", settings=each) for each in choices
    ]
    found = compare(*claude)
    assert found is not None
    assert found.cause is Cause.TOOL_CHOICE
    assert [piece.kind for piece in found.lost] == ["user", "assistant", "user"]
    assert cause(*(asked(*said, settings=each) for each in choices)) is None  # Rule O3.
    default = asked(*said, vendor="anthropic", model="claude-opus-5")
    assert cause(default, claude[0]) is None
