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

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.prompt import Prompt

MINUTE, HOUR = 60.0, 3600.0


@pytest.fixture
def server() -> Server:
    return Server(Anthropic(minimum=100))


def test_a1_an_entry_is_the_whole_prefix_so_another_beginning_misses(server: Server) -> None:
    server.ask(prompt(tool(text="a"), system(), user(mark=True)))
    assert server.ask(prompt(tool(text="b"), system(), user(mark=True))).read == 0


def test_a2_nothing_is_written_and_nothing_read_without_a_marker(server: Server) -> None:
    server.ask(prompt(*numbered(10, marks=[10])))
    assert account(server.ask(prompt(*numbered(10)))) == (0, {}, 1000 + SUFFIX)
    assert server.plan(prompt(*numbered(10))).writes == ()


def test_a2_the_prefixes_before_a_marker_are_not_written(server: Server) -> None:
    server.ask(prompt(*numbered(10, marks=[10])))
    assert server.ask(prompt(*numbered(5, marks=[5]))).read == 0


@pytest.mark.parametrize(
    ("marks", "read"), [([15], 1000), ([29], 1000), ([30], 0), ([35], 0), ([15, 35], 1000)]
)
def test_a3_an_entry_at_block_10_is_found_from_markers_within_20_positions(
    server: Server, marks: list[int], read: int
) -> None:
    server.ask(prompt(*numbered(10, marks=[10])))
    decision = server.ask(prompt(*numbered(max(marks), marks=marks)))
    assert account(decision) == (read, {"5m": max(marks) * 100 - read}, SUFFIX)


def test_a3_a_marker_at_35_misses_the_entry_at_15_and_one_more_at_15_finds_it(
    server: Server,
) -> None:
    server.ask(prompt(*numbered(15, marks=[15])))
    assert server.plan(prompt(*numbered(35, marks=[35]))).hit is None
    assert server.ask(prompt(*numbered(35, marks=[15, 35]))).read == 1500


@pytest.mark.parametrize(("earlier", "read"), [(21, 200), (22, 0)])
def test_a3_an_earlier_marker_resumes_the_lookback_from_where_it_stands(
    server: Server, earlier: int, read: int
) -> None:
    server.ask(prompt(*numbered(2, marks=[2])))
    assert server.ask(prompt(*numbered(60, marks=[earlier, 60]))).read == read


def test_a3_the_longest_entry_wins(server: Server) -> None:
    server.ask(prompt(*numbered(4, marks=[2, 4])))
    assert server.ask(prompt(*numbered(6, marks=[2, 6]))).read == 400


@pytest.mark.parametrize(("lookback", "read"), [(4, 0), (5, 100), (6, 100)])
def test_a3_the_number_of_positions_counts_the_marker_itself(lookback: int, read: int) -> None:
    server = Server(Anthropic(minimum=100, lookback=lookback))
    server.ask(prompt(*numbered(1, marks=[1])))
    assert server.ask(prompt(*numbered(5, marks=[5]))).read == read


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
def test_a4_a_run_of_tool_blocks_is_one_position(server: Server, kind: str) -> None:
    run = [part(kind, 10, f"run {number}") for number in range(25)]  # type: ignore[arg-type]
    server.ask(prompt(*numbered(2, marks=[2])))
    near = prompt(*numbered(2), *run, *numbered(18, marks=[28], first=11))
    far = prompt(*numbered(2), *run, *numbered(19, marks=[29], first=11))
    assert server.plan(near).settle(200).read == 200
    assert server.plan(far).hit is None


def test_a4_uses_and_results_are_two_runs_and_other_blocks_are_not_joined() -> None:
    server = Server(Anthropic(minimum=100, lookback=3))
    pair = [part("tool_use", 10, "1"), part("tool_use", 10, "2"), part("tool_result", 10, "3")]
    server.ask(prompt(user(mark=True)))
    assert server.plan(prompt(user(), *pair[:2], user(text="x", mark=True))).hit is not None
    assert server.plan(prompt(user(), *pair, user(text="x", mark=True))).hit is None
    users = [user(text="x"), user(text="y"), user(text="z", mark=True)]
    assert server.plan(prompt(user(), *users)).hit is None


def test_a4_a_marker_inside_a_run_counts_the_run_once() -> None:
    server = Server(Anthropic(minimum=100, lookback=2))
    server.ask(prompt(user(mark=True)))
    run = [part("tool_result", 10, "1"), part("tool_result", 10, "2", mark=True)]
    assert server.ask(prompt(user(), *run)).read == 100


def test_a4_an_entry_inside_a_run_is_found_from_its_end(server: Server) -> None:
    run = [part("tool_result", 100, f"{number}") for number in range(30)]
    server.ask(prompt(user(), *run[:3], part("tool_result", 100, "3", mark=True)))
    more = prompt(user(), *run[:29], part("tool_result", 100, "29", mark=True))
    assert server.ask(more).read == 500


def test_a6_the_automatic_marker_goes_to_the_last_block_that_may_carry_one(
    server: Server,
) -> None:
    server.ask(prompt(user(), part("thinking", 50, markable=False), automatic=True))
    assert server.ask(prompt(user(mark=True))).read == 100


def test_a6_nothing_happens_where_no_block_may_carry_the_automatic_marker(server: Server) -> None:
    alone = prompt(user(0, markable=False), automatic=True)
    assert account(server.ask(alone)) == (0, {}, SUFFIX)


def test_a6_a_growing_chat_reads_all_of_its_last_turn_and_writes_the_tail(server: Server) -> None:
    turns = numbered(13, tokens=150)
    assert account(server.ask(prompt(*turns[:1], automatic=True))) == (0, {"5m": 150}, SUFFIX)
    for length in range(3, 14, 2):
        decision = server.ask(prompt(*turns[:length], automatic=True), now=length * MINUTE)
        assert account(decision) == ((length - 2) * 150, {"5m": 300}, SUFFIX)


def test_an_agents_loop_with_moving_markers_reads_what_the_turn_before_wrote(
    server: Server,
) -> None:
    """The vendor's pattern: tools and system marked once, and the last block of each turn."""
    head = [tool(800, mark=True), system(1200, mark=True)]
    loop = [user(50)]
    before = 0
    for turn in range(12):
        loop += [part("tool_use", 40, f"use {turn}"), part("tool_result", 300, f"result {turn}")]
        marked = part("tool_result", 300, f"result {turn}", mark=True)
        decision = server.ask(prompt(*head, *loop[:-1], marked), now=turn * 4 * MINUTE)
        total = 2050 + (turn + 1) * 340
        assert account(decision) == (before, {"5m": total - before}, SUFFIX)
        before = total


@pytest.mark.parametrize("minimum", [512, 1024, 2048, 4096])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_a7_a_prefix_below_the_minimum_is_silently_not_cached(minimum: int, offset: int) -> None:
    server = Server(Anthropic(minimum=minimum))
    asked = prompt(user(minimum + offset, mark=True), user(5))
    expected = 0 if offset < 0 else minimum + offset
    assert sum(server.ask(asked).written.values()) == expected
    assert server.ask(asked).read == expected


def test_a7_a_short_prefix_is_not_cached_for_a_longer_marker_either(server: Server) -> None:
    decision = server.ask(prompt(tool(60, mark="1h"), user(60, mark=True)))
    assert account(decision) == (0, {"5m": 120}, SUFFIX)


@pytest.mark.parametrize(("ttl", "seconds"), [("5m", 300.0), ("1h", 3600.0)])
@pytest.mark.parametrize(("offset", "read"), [(-1, 100), (0, 0), (1, 0)])
def test_a8_an_entry_lives_from_the_start_of_its_request(
    server: Server, ttl: str, seconds: float, offset: int, read: int
) -> None:
    asked = prompt(user(mark=ttl))
    plan = server.plan(asked, now=0.0)
    plan.commit(server.entries, 0.0)
    assert server.ask(asked, now=seconds + offset).read == read


def test_a8_a_hit_refreshes_and_costs_nothing(server: Server) -> None:
    asked = prompt(user(mark=True), user(5))
    server.ask(asked)
    for minute in (4, 8, 12):
        assert account(server.ask(asked, now=minute * MINUTE)) == (100, {}, 5 + SUFFIX)
    assert server.ask(asked, now=17 * MINUTE).read == 0


def test_a8_an_entry_that_is_read_by_walking_back_is_refreshed_too(server: Server) -> None:
    server.ask(prompt(*numbered(2, marks=[2])))
    server.ask(prompt(*numbered(4, marks=[4])), now=4 * MINUTE)
    assert server.ask(prompt(*numbered(2, marks=[2])), now=8 * MINUTE).read == 200


def test_a10_the_hour_is_billed_to_its_last_marker_and_five_minutes_beyond(
    server: Server,
) -> None:
    """A = 200 tokens are read, B = 500 is the last hour's marker, C = 900 the last of all."""
    parts = numbered(10)
    server.ask(prompt(*numbered(2, marks=[2])))
    parts[2] = assistant(300, "long", mark="1h")
    parts[4] = user(300, "longer", mark=True)
    decision = server.ask(prompt(*parts[:2], parts[2], parts[3], parts[4], user(50)))
    assert account(decision) == (200, {"1h": 300, "5m": 400}, 50 + SUFFIX)


def test_a10_what_is_marked_but_read_is_not_billed_again(server: Server) -> None:
    asked = prompt(tool(mark="1h"), system(mark="1h"), user(mark=True), user(7))
    assert account(server.ask(asked)) == (0, {"1h": 200, "5m": 100}, 7 + SUFFIX)
    assert account(server.ask(asked)) == (300, {}, 7 + SUFFIX)


def test_a10_both_lifetimes_are_counted_where_nothing_is_written_too(server: Server) -> None:
    assert server.plan(prompt(user())).settle(0).written == {"5m": 0, "1h": 0}


def test_what_the_engine_no_longer_has_is_written_again_where_a_marker_covers_it(
    server: Server,
) -> None:
    asked = prompt(tool(mark="1h"), user(mark=True), user(7))
    server.ask(asked)
    assert account(server.ask(asked, reused=150)) == (150, {"5m": 50}, 7 + SUFFIX)
    assert account(server.ask(asked, reused=0)) == (0, {"1h": 100, "5m": 100}, 7 + SUFFIX)


def test_less_than_the_minimum_left_in_the_engine_is_no_read() -> None:
    server = Server(Anthropic(minimum=100))
    asked = prompt(user(mark=True), user(7))
    server.ask(asked)
    assert server.ask(asked, reused=99).read == 0


def test_a12_cold_requests_that_come_together_all_write(server: Server) -> None:
    asked = prompt(user(mark=True), user(7))
    plans = [server.plan(asked) for _ in range(3)]
    for plan in plans:
        plan.commit(server.entries, 0.0)
    assert {account(plan.settle(100))[:2] == (0, {"5m": 100}) for plan in plans} == {True}
    assert server.ask(asked).read == 100


@pytest.mark.parametrize("field", ["tenant", "partition", "model"])
def test_a13_organizations_workspaces_and_models_share_nothing(server: Server, field: str) -> None:
    server.ask(prompt(user(mark=True), **{field: "one"}))
    assert server.ask(prompt(user(mark=True), **{field: "two"})).read == 0
    assert server.ask(prompt(user(mark=True), **{field: "one"})).read == 100


def test_a14_a_thinking_block_is_cached_inside_the_prefix(server: Server) -> None:
    thought = part("thinking", 70, "hm", markable=False)
    asked = prompt(user(), thought, user(text="next", mark=True))
    server.ask(asked)
    assert server.ask(asked).read == 270


def test_a18_what_lives_keeps_the_lifetime_it_was_paid_for(server: Server) -> None:
    """A third party's probe: five minutes are not promoted, an hour is not cut short."""
    short, long = prompt(user(text="s", mark=True)), prompt(user(text="l", mark="1h"))
    server.ask(short)
    server.ask(long)
    hour_on_short, five_on_long = (
        prompt(user(text="s", mark="1h")),
        prompt(user(text="l", mark=True)),
    )
    assert account(server.ask(hour_on_short, now=MINUTE))[:2] == (100, {})
    assert account(server.ask(five_on_long, now=50 * MINUTE))[:2] == (100, {})
    assert server.ask(short, now=7 * MINUTE).read == 0
    assert server.ask(long, now=109 * MINUTE).read == 100


def test_the_prefixes_of_markers_and_of_the_hit_are_kept(server: Server) -> None:
    server.ask(prompt(*numbered(2, marks=[2])))
    plan = server.plan(prompt(tool(mark="1h"), *numbered(2, marks=[2])))
    assert sorted(plan.kept) == [(100, HOUR), (300, 5 * MINUTE)]
    walked = server.plan(prompt(*numbered(4, marks=[4])))
    assert sorted(walked.kept) == [(200, 5 * MINUTE), (400, 5 * MINUTE)]


LEVELS = {"tools": 100, "system": 200, "messages": 300}


def leveled(read_from: str, **changes: object) -> Prompt:
    """A marker at the end of one level only."""
    return prompt(
        tool(text=str(changes.pop("tool", "t")), mark=read_from == "tools"),
        system(text=str(changes.pop("system", "s")), mark=read_from == "system"),
        user(text="u", mark=read_from == "messages"),
        **changes,
    )


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"tool": "changed"}, []),
        ({"model": "changed"}, []),
        ({"settings": {"web_search": "on"}}, ["tools"]),
        ({"settings": {"citations": "on"}}, ["tools"]),
        ({"settings": {"speed": "fast"}}, ["tools"]),
        ({"system": "changed"}, ["tools"]),
        ({"settings": {"tool_choice": "any"}}, ["tools", "system"]),
        ({"settings": {"images": "yes"}}, ["tools", "system"]),
        ({"settings": {"thinking": "enabled 4096"}}, ["tools", "system"]),
        ({"settings": {"effort": "low"}}, ["tools", "system"]),
        ({"settings": {"effort": '"high"'}}, ["tools", "system", "messages"]),
        ({"settings": {"tool_choice": '{"type":"auto"}'}}, ["tools", "system", "messages"]),
        ({"settings": {"thinking": '{"type":"disabled"}'}}, ["tools", "system", "messages"]),
        ({"settings": {"speed": '"standard"'}}, ["tools", "system", "messages"]),
        ({"settings": {"nobody knows": "this"}}, []),
    ],
)
def test_the_invalidation_table(change: dict[str, object], kept: list[str]) -> None:
    server = Server(Anthropic(minimum=100))
    for level in LEVELS:
        server.ask(leveled(level))
    for level, tokens in LEVELS.items():
        plan = server.plan(leveled(level, **dict(change)))
        found = 0 if plan.hit is None else plan.hit.end
        assert found == max([LEVELS[name] for name in kept if LEVELS[name] <= tokens], default=0)


def test_an_appended_system_message_keeps_the_prefix(server: Server) -> None:
    server.ask(prompt(system(), *numbered(2, marks=[2])))
    grown = prompt(system(), *numbered(2), system(20, "late"), user(30, "last", mark=True))
    assert server.ask(grown).read == 300
