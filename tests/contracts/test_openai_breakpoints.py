"""Each rule by its number in docs/contracts.md; numbers in the examples are the vendor's."""

import pytest
from tests.contracts.build import (
    SUFFIX,
    Server,
    account,
    assistant,
    numbered,
    part,
    prompt,
    system,
    tool,
    user,
)

from headstart.contracts.contract import Refusal
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints

MINUTE, HOUR = 60.0, 3600.0


@pytest.fixture
def server() -> Server:
    return Server(OpenAIBreakpoints())


@pytest.fixture
def small() -> Server:
    return Server(OpenAIBreakpoints(minimum=100))


def test_o1_a_plain_request_is_cached_and_its_repeat_read(server: Server) -> None:
    asked = prompt(user(2000))
    assert account(server.ask(asked)) == (0, {"30m": 2000}, SUFFIX)
    assert account(server.ask(asked)) == (2000, {}, SUFFIX)


def test_o2_tools_come_before_developer_messages_and_all_of_it_counts(small: Server) -> None:
    small.ask(prompt(tool(text="a"), system(), user()))
    assert small.ask(prompt(tool(text="b"), system(), user())).read == 0


@pytest.mark.parametrize(
    "setting",
    ["parallel_tool_calls", "text.format", "reasoning.effort", "text.verbosity", "service_tier"],
)
def test_o3_a_setting_that_shapes_the_prompt_breaks_the_prefix(small: Server, setting: str) -> None:
    small.ask(prompt(user()))
    assert small.ask(prompt(user(), settings={setting: "changed"})).read == 0
    assert small.ask(prompt(user(), settings={setting: "changed"})).read == 100
    assert small.ask(prompt(user())).read == 100


@pytest.mark.parametrize("setting", ["tool_choice", "temperature", "max_output_tokens", "metadata"])
def test_o3_a_setting_that_does_not_shape_the_prompt_changes_nothing(
    small: Server, setting: str
) -> None:
    small.ask(prompt(user()))
    assert small.ask(prompt(user(), settings={setting: "changed"})).read == 100


def test_o3_a_default_that_is_said_is_the_same_as_one_left_out(small: Server) -> None:
    small.ask(prompt(user()))
    said = {
        "parallel_tool_calls": "true",
        "text.format": '{"type":"text"}',
        "text.verbosity": '"medium"',
    }
    assert small.ask(prompt(user(), settings=said)).read == 100


@pytest.mark.parametrize(("tokens", "cached"), [(1023, 0), (1024, 1024), (1025, 1025)])
def test_o4_below_1024_tokens_nothing_is_written_or_read(
    server: Server, tokens: int, cached: int
) -> None:
    asked = prompt(user(tokens))
    assert sum(server.ask(asked).written.values()) == cached
    assert server.ask(asked).read == cached


def test_o4_a_boundary_below_the_minimum_is_none_in_a_long_prompt_either(server: Server) -> None:
    parts = [user(1000, mark=True), user(1000, "b", mark=True)]
    server.ask(prompt(*parts, mode="explicit"))
    assert server.ask(prompt(parts[0], user(1000, "c"), mode="explicit")).read == 0


def test_o5_the_end_of_a_user_message_of_several_parts_is_the_end_of_the_last(
    small: Server,
) -> None:
    parts = [user(text="a", message=0), user(text="b", message=0)]
    small.ask(prompt(*parts))
    assert small.ask(prompt(*parts, assistant(), user(text="next"))).read == 200
    assert small.ask(prompt(parts[0], assistant(), user(text="next"))).read == 0


def test_o5_the_last_of_the_tool_outputs_that_follow_one_another_is_a_boundary(
    small: Server,
) -> None:
    outputs = [part("tool_result", text="1"), part("tool_result", text="2")]
    asked = prompt(user(), part("tool_use"), *outputs)
    assert [write.end for write in small.plan(asked).writes] == [400]
    small.ask(asked)
    assert small.ask(prompt(user(), part("tool_use"), *outputs, assistant(), user())).read == 400
    assert small.ask(prompt(user(), part("tool_use"), outputs[0], user(text="x"))).read == 0


def test_o5_the_boundary_is_the_latest_eligible_message_not_the_end(small: Server) -> None:
    asked = prompt(user(), assistant(50), part("tool_use", 30))
    assert account(small.ask(asked)) == (0, {"30m": 100}, 80 + SUFFIX)


def test_o5_developer_messages_that_open_the_prompt_are_one_boundary(small: Server) -> None:
    alone = prompt(tool(), part("developer", text="1"), part("developer", text="2"))
    assert account(small.ask(alone)) == (0, {"30m": 300}, SUFFIX)
    asked = prompt(tool(), part("developer", text="1"), part("developer", text="2"), user())
    assert small.ask(asked).read == 300


def test_o8_a_later_developer_message_is_no_boundary(small: Server) -> None:
    asked = prompt(user(), part("developer", text="late"))
    assert [write.end for write in small.plan(asked).writes] == [100]


def test_o8_an_entry_at_the_end_of_a_later_developer_message_is_not_looked_for(
    small: Server,
) -> None:
    late = [user(), part("developer", text="late", mark=True)]
    small.ask(prompt(*late, mode="explicit"))
    assert small.ask(prompt(user(), part("developer", text="late"), user(text="x"))).read == 0
    assert small.ask(prompt(*late, user(text="y"))).read == 200


@pytest.mark.parametrize(
    ("mode", "marks", "written"),
    [
        ("implicit", [], [900]),
        ("implicit", [1, 2], [100, 200, 900]),
        ("implicit", [1, 2, 3, 4, 5, 6], [400, 500, 600, 900]),
        ("implicit", [3, 5, 7, 9], [500, 700, 900]),
        ("explicit", [], []),
        ("explicit", [2], [200]),
        ("explicit", [1, 3, 5, 7], [100, 300, 500, 700]),
        ("explicit", [1, 2, 3, 4, 5, 6], [300, 400, 500, 600]),
    ],
)
def test_o5_and_o6_the_latest_breakpoints_are_written_and_surplus_ones_dropped(
    small: Server, mode: str, marks: list[int], written: list[int]
) -> None:
    parts = [user(text=f"{number}", mark=number in marks) for number in range(1, 10)]
    plan = small.plan(prompt(*parts, mode=mode))
    assert [write.end for write in plan.writes] == written


def test_o5_a_single_write_is_the_implicit_one() -> None:
    server = Server(OpenAIBreakpoints(minimum=100, marks=1))
    plan = server.plan(prompt(user(text="a", mark=True), user(text="b")))
    assert [write.end for write in plan.writes] == [200]


def test_o6_explicit_mode_without_breakpoints_reads_nothing_even_where_it_is_warm(
    server: Server,
) -> None:
    server.ask(prompt(user(2000)))
    decision = server.ask(prompt(user(2000), mode="explicit"))
    assert account(decision) == (0, {}, 2000 + SUFFIX)


def test_o6_a_breakpoint_after_the_stable_part_leaves_the_rest_ordinary(server: Server) -> None:
    stable = system(1500, mark=True)
    first = server.ask(prompt(stable, user(40, "a"), mode="explicit"))
    assert account(first) == (0, {"30m": 1500}, 40 + SUFFIX)
    second = server.ask(prompt(stable, user(60, "b"), mode="explicit"))
    assert account(second) == (1500, {}, 60 + SUFFIX)


@pytest.mark.parametrize(("more", "read"), [(79, 100), (80, 0), (81, 0)])
def test_o7_the_latest_80_breakpoints_are_compared(small: Server, more: int, read: int) -> None:
    """The entry's own boundary is one of them."""
    first = user(text="0", mark=True)
    small.ask(prompt(first, mode="explicit"))
    marked = [assistant(10), *(user(10, f"{number}", mark=True) for number in range(more))]
    assert small.plan(prompt(first, *marked, mode="explicit")).settle(10**6).read == read


@pytest.mark.parametrize(("more", "read"), [(19, 200), (20, 200), (21, 0)])
def test_o7_twenty_earlier_message_ends_are_compared_beside_the_implicit_breakpoint(
    small: Server, more: int, read: int
) -> None:
    small.ask(prompt(assistant(), user(text="0")))
    later = [user(10, f"{number}") for number in range(1, more + 1)]
    asked = prompt(assistant(), user(text="0"), *later)
    assert small.plan(asked).settle(10**6).read == read


def test_o7_the_developer_messages_are_compared_however_long_the_chat(small: Server) -> None:
    small.ask(prompt(system()))
    assert small.ask(prompt(system(), *numbered(200))).read == 100


def test_o8_an_explicit_request_finds_an_implicit_entry_only_at_its_own_breakpoint(
    small: Server,
) -> None:
    small.ask(prompt(user(text="a"), assistant(), user(text="b")))
    elsewhere = prompt(user(text="a", mark=True), assistant(), user(text="b"), mode="explicit")
    there = prompt(user(text="a"), assistant(), user(text="b", mark=True), mode="explicit")
    assert small.plan(elsewhere).hit is None
    assert small.ask(there).read == 300


def test_o8_a_message_that_was_extended_is_another(small: Server) -> None:
    small.ask(prompt(user(100, "a")))
    assert small.ask(prompt(user(150, "a and more"))).read == 0
    small.ask(prompt(user(text="a", message=0)))
    assert small.ask(prompt(user(text="a", message=0), user(text="more", message=0))).read == 0


def test_o8_a_shared_beginning_without_a_written_end_is_not_read(small: Server) -> None:
    small.ask(prompt(system(1000), user(text="a")))
    assert small.ask(prompt(system(1000), user(text="b"))).read == 0
    small.ask(prompt(system(1000)))
    assert small.ask(prompt(system(1000), user(text="c"))).read == 1000


def test_o9_the_guides_example_12000_then_15000_tokens(server: Server) -> None:
    first = user(12_000, "first")
    decision = server.ask(prompt(first), reused=0)
    assert account(decision)[:2] == (0, {"30m": 12_000})
    grown = prompt(first, assistant(1_000), user(2_000))
    decision = server.ask(grown, reused=12_000)
    assert account(decision)[:2] == (12_000, {"30m": 3_000})


def test_o9_both_lifetimes_are_counted_where_nothing_is_written_too(small: Server) -> None:
    assert small.plan(prompt(user(99))).settle(0).written == {"30m": 0, "12h": 0}


def test_o9_a_boundary_is_exact_and_not_rounded(server: Server) -> None:
    server.ask(prompt(user(1337)))
    assert server.ask(prompt(user(1337), assistant(11), user(7))).read == 1337


@pytest.mark.parametrize(("ttl", "seconds"), [("30m", 1800.0), ("12h", 43_200.0)])
@pytest.mark.parametrize(("offset", "read"), [(-1, 100), (0, 0), (1, 0)])
def test_o11_an_entry_lives_for_its_lifetime(
    small: Server, ttl: str, seconds: float, offset: int, read: int
) -> None:
    small.ask(prompt(user(), ttl=ttl))
    assert small.plan(prompt(user()), now=seconds + offset).settle(100).read == read


def test_o11_reuse_begins_the_lifetime_anew_for_nothing(small: Server) -> None:
    asked = prompt(user())
    small.ask(asked)
    for now in (29, 58, 87):
        assert account(small.ask(asked, now=now * MINUTE)) == (100, {}, SUFFIX)
    assert small.ask(asked, now=118 * MINUTE).read == 0


def test_o14_a_cache_key_is_a_partition_and_none_is_one_too(small: Server) -> None:
    small.ask(prompt(user(), partition="a"))
    assert small.ask(prompt(user(), partition="b")).read == 0
    assert small.ask(prompt(user())).read == 0
    assert small.ask(prompt(user(), partition="a")).read == 100


@pytest.mark.parametrize("field", ["tenant", "model"])
def test_o15_organizations_and_models_share_nothing(small: Server, field: str) -> None:
    small.ask(prompt(user(), **{field: "one"}))
    assert small.ask(prompt(user(), **{field: "two"})).read == 0


def test_o17_requests_that_come_together_all_write(small: Server) -> None:
    plans = [small.plan(prompt(user())) for _ in range(2)]
    for plan in plans:
        plan.commit(small.entries, 0.0)
    assert [account(plan.settle(100))[:2] for plan in plans] == [(0, {"30m": 100})] * 2


def test_o18_twelve_hours_are_billed_to_their_last_boundary_and_thirty_minutes_beyond(
    small: Server,
) -> None:
    asked = prompt(user(text="a", mark="30m"), user(text="b", mark="12h"), user(text="c"))
    assert account(small.ask(asked)) == (0, {"12h": 200, "30m": 100}, SUFFIX)


def test_o18_a_breakpoint_without_a_lifetime_takes_the_requests(small: Server) -> None:
    asked = prompt(user(text="a", mark=True), user(text="b", mark="30m"), ttl="12h")
    assert account(small.ask(asked)) == (0, {"12h": 100, "30m": 100}, SUFFIX)


@pytest.mark.parametrize("kind", ["assistant", "tool_use", "thinking", "tool"])
def test_o19_a_breakpoint_that_cannot_be_one_is_ignored(small: Server, kind: str) -> None:
    marked = part(kind, mark=True)  # type: ignore[arg-type]
    assert small.plan(prompt(marked, user(), mode="explicit")).writes == ()


@pytest.mark.parametrize("kind", ["system", "developer", "user", "tool_result"])
def test_o19_a_breakpoint_on_what_the_model_is_told_is_honoured(small: Server, kind: str) -> None:
    marked = part(kind, mark=True)  # type: ignore[arg-type]
    assert [write.end for write in small.plan(prompt(marked, mode="explicit")).writes] == [100]


def test_what_the_engine_no_longer_has_is_written_again(small: Server) -> None:
    asked = prompt(user(300))
    small.ask(asked)
    assert account(small.ask(asked, reused=120)) == (120, {"30m": 180}, SUFFIX)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"ttl": "5m"}, "prompt_cache_options.ttl"),
        ({"retention": "in_memory"}, "prompt_cache_retention"),
    ],
)
def test_a_value_that_is_not_supported_is_refused(
    small: Server, changes: dict[str, str], path: str
) -> None:
    with pytest.raises(Refusal) as refused:
        small.plan(prompt(user(), **changes))
    assert (refused.value.path, refused.value.code) == (path, "invalid_value")
    if "ttl" in changes:
        assert str(refused.value) == "Invalid value: '5m'. Supported values are: '30m' and '12h'."


def test_a_breakpoints_value_that_is_not_supported_is_refused(small: Server) -> None:
    with pytest.raises(Refusal) as refused:
        small.plan(prompt(user(mark="1h")))
    assert refused.value.path == "messages.0.content.0.prompt_cache_breakpoint.ttl"
    small.plan(prompt(user(), retention="24h"))
