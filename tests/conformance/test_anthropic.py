"""Anthropic's caching rules through its own SDK: the checks of reference/dialects.md, section 8.

Prompts differ by their seed, so that tests share nothing though they share a server.
"""

from typing import Any

import pytest
from anthropic.types import Usage
from tests.conformance.anthropic_side import (
    ALIASES,
    SONNET,
    Side,
    by_lifetime,
    counts,
    marker,
    prose,
    read,
    text,
    text_of,
    tool,
    user,
    written,
)
from tests.conformance.conftest import Serve, Served


@pytest.fixture(scope="module")
def served(serve: Serve) -> Served:
    return serve(aliases=ALIASES)


@pytest.fixture
def side(served: Served) -> Side:
    return Side(served)


def test_check_08_a_marked_system_prompt_is_written_once_and_read_then(side: Side) -> None:
    system = [text(prose("c08"), mark=True)]
    first = side.usage("One?", system=system)
    second = side.usage("Another, longer question?", system=system)
    assert written(first) == read(second) >= 512
    assert (read(first), written(second)) == (0, 0)
    assert first.input_tokens < second.input_tokens < 40


def test_check_10_without_markers_nothing_is_written_or_read(side: Side) -> None:
    asked = prose("c10")
    for _ in range(2):
        total, *cache = counts(side.usage(asked))
        assert cache == [0, 0]
    counted = side.client.messages.count_tokens(model=SONNET, messages=[user(text(asked))])
    assert total == counted.input_tokens


def test_check_11_a_hit_changes_no_answer(side: Side) -> None:
    system = [text(prose("c11"), mark=True)]
    cold = side.ask("Tell me.", system=system, max_tokens=24)
    warm = side.ask("Tell me.", system=system, max_tokens=24)
    assert read(warm.usage) > 0
    assert text_of(warm) == text_of(cold)


def test_check_12_what_is_read_was_skipped(side: Side) -> None:
    system = [text(prose("c12"), mark=True)]
    side.usage("One?", system=system)
    engine = side.served.live.engine
    before = engine.stats().prefill_tokens
    usage = side.usage("Two?", system=system)
    computed = engine.stats().prefill_tokens - before
    assert sum(counts(usage)) - computed >= read(usage) > 0


def test_check_13_nothing_is_read_beyond_the_last_boundary_before_a_change(side: Side) -> None:
    system = [text(prose("c13"), mark=True)]
    asked = prose("c13u", 60)
    first = side.usage(user(text(asked, mark=True)), system=system)
    changed = asked.replace("c13u50", "c13u51")
    second = side.usage(user(text(changed, mark=True)), system=system)
    only = side.usage("x", system=system)
    assert read(second) == read(only) < written(first)


def test_check_19_four_markers_are_the_most_the_automatic_one_included(side: Side) -> None:
    four = [text(f"c19 {number}", mark=True) for number in range(4)]
    message = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    automatic: Any = marker()
    assert side.usage(user(*four))
    assert side.usage(user(*four[1:]), **automatic)
    assert side.refusal(user(*four, text("c19", mark=True))) == message
    assert side.refusal(user(*four), **automatic) == message


def test_check_20_the_longer_lifetime_comes_first(side: Side) -> None:
    message = (
        "system.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
        "ttl='5m' cache_control block. Note that blocks are processed in the following order: "
        "`tools`, `system`, `messages`."
    )
    tools = tool("f", prose("c20t"), "5m")
    assert side.refusal("?", tools=[tools], system=[text("c20", "1h")]) == message
    usage = side.usage(
        "?", tools=[tool("f", prose("c20t"), "1h")], system=[text(prose("c20"), "5m")]
    )
    assert min(by_lifetime(usage)) > 0
    assert side.refusal(user(text("c20", "5m")), cache_control={"type": "ephemeral", "ttl": "1h"})


def test_check_21_a_prefix_below_the_minimum_is_silently_not_cached(side: Side) -> None:
    words = 600
    longer = written(side.usage("?", system=[text(" a" * words, mark=True)]))
    exact = words - (longer - 512)  # Every word is one token.
    for tokens in (511, 511, 512):
        usage = side.usage("?", system=[text(" a" * (exact - 512 + tokens), mark=True)])
        assert (written(usage), read(usage)) == (512 if tokens == 512 else 0, 0)
    assert read(side.usage("?", system=[text(" a" * exact, mark=True)])) == 512


def test_check_22_five_minutes_are_counted_from_the_start_of_the_request(side: Side) -> None:
    for seconds, hit in ((299, True), (301, False), (300, False)):
        system = [text(prose(f"c22 {seconds} "), mark=True)]
        first = side.usage("?", system=system)
        side.clock.advance(seconds)
        second = side.usage("?", system=system)
        assert (read(second), written(second)) == (
            (written(first), 0) if hit else (0, written(first))
        )


def test_check_23_a_hit_refreshes_for_nothing(side: Side) -> None:
    system = [text(prose("c23"), mark=True)]
    side.usage("?", system=system)
    for _ in range(2):
        side.clock.advance(240)
        usage = side.usage("?", system=system)
        assert read(usage) > 0
        assert written(usage) == 0


def test_check_24_an_hour_is_billed_and_kept_as_one(side: Side) -> None:
    system = [text(prose("c24"), "1h")]
    first = side.usage("?", system=system)
    assert by_lifetime(first) == (0, written(first))
    for seconds in (1800, 3599):
        side.clock.advance(seconds)
        assert read(side.usage("?", system=system)) == written(first)
    side.clock.advance(3600)
    assert read(side.usage("?", system=system)) == 0


def blocks(seed: str, count: int, *marks: int) -> dict[str, Any]:
    """A message of `count` blocks, the first of them long; those in `marks` (from 1) are marked."""
    return user(
        *(
            text(prose(f"{seed} {number} ", 130 if number == 1 else 3), mark=number in marks)
            for number in range(1, count + 1)
        )
    )


@pytest.mark.parametrize(("marker_at", "hit"), [(15, True), (29, True), (30, False)])
def test_check_25_an_entry_is_found_within_twenty_positions(
    side: Side, marker_at: int, hit: bool
) -> None:
    seed = f"c25 {marker_at}"
    first = side.usage(blocks(seed, 10, 10))
    second = side.usage(blocks(seed, marker_at, marker_at))
    assert read(second) == (written(first) if hit else 0)
    assert written(second) > 0


def test_check_26_another_marker_looks_from_where_it_stands(side: Side) -> None:
    for seed, marks, hit in (("c26 one ", (35,), False), ("c26 two ", (15, 35), True)):
        first = side.usage(blocks(seed, 15, 15))
        assert read(side.usage(blocks(seed, 35, *marks))) == (written(first) if hit else 0)


def test_check_27_a_run_of_results_is_one_position(side: Side) -> None:
    asked = [user(text(prose("c27"), mark=True))]
    first = side.usage(*asked)
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": "f", "input": {}}
        for number in range(25)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "y"}
        for number in range(25)
    ]
    marked = {**results[-1], **marker()}
    usage = side.usage(
        user(text(prose("c27"))),
        {"role": "assistant", "content": calls},
        user(*results[:-1], marked),
    )
    assert read(usage) == written(first)


def test_check_28_a_marker_on_what_changes_only_ever_writes(side: Side) -> None:
    for number in range(3):
        usage = side.usage(user(text(prose("c28") + f" at {number}", mark=True)))
        assert written(usage) > 512
        assert read(usage) == 0


def test_check_29_the_automatic_marker_follows_a_growing_chat(side: Side) -> None:
    automatic: Any = {"cache_control": {"type": "ephemeral"}}
    chat: list[Any] = [prose("c29")]
    cached = 0
    for turn in range(4):
        usage = side.usage(*chat, **automatic)
        assert read(usage) == cached
        assert written(usage) > 0
        cached += written(usage)
        chat += [{"role": "assistant", "content": f"Answer {turn}."}, f"Question {turn}?"]


def test_check_29_an_agents_loop_reads_all_that_the_step_before_wrote(side: Side) -> None:
    """Markers move with the loop: tools and system stay, the last result is marked anew."""
    tools = [tool("f"), tool("g", prose("c29t"), "1h")]
    system = [text(prose("c29s", 30), "1h")]
    steps: list[Any] = ["Begin."]
    cached = 0
    for step in range(5):
        usage = side.usage(*steps, tools=tools, system=system)
        assert read(usage) == cached
        cached += written(usage)
        call = {"type": "tool_use", "id": f"toolu_{step}", "name": "f", "input": {"x": str(step)}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{step}", "content": f"So {step}."}
        for message in steps:
            if isinstance(message, dict) and message["role"] == "user":
                message["content"][0].pop("cache_control", None)
        steps += [{"role": "assistant", "content": [call]}, user(result | marker())]
    assert cached > 600


TOOLS = [tool("f", prose("c30t")), tool("g", "Does.", "1h")]


def leveled(side: Side, tools: Any = TOOLS, system: str = "c30s", **fields: Any) -> Usage:
    """A prompt with a marker on every level, each above the minimum."""
    levels: Any = {"tools": tools, "system": [text(prose(system, 40), "1h")]}
    return side.usage(user(text(prose("c30u", 40), "1h")), **levels, **fields)


def test_check_30_a_change_loses_its_level_and_those_behind_it(side: Side) -> None:
    whole = written(leveled(side))
    assert read(leveled(side)) == whole
    turned = [tool("g", "Does."), tool("f", prose("c30t"), "1h")]
    described = [TOOLS[0], tool("g", "Did.", "1h")]
    for tools in (turned, described):
        assert read(leveled(side, tools)) == 0
    through_tools = read(leveled(side, system="c30o"))
    through_system = read(leveled(side, tool_choice={"type": "any"}))
    assert 512 <= through_tools < through_system < whole
    alone = {"type": "auto", "disable_parallel_tool_use": True}
    assert read(leveled(side, tool_choice=alone)) == through_system


def test_check_31_an_image_is_refused_and_costs_no_entry(side: Side) -> None:
    system = [text(prose("c31"), mark=True)]
    first = side.usage("?", system=system)
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    assert side.refusal(user(text("?"), image), system=system) == (
        "messages.0.content.1: This model does not support image input"
    )
    assert read(side.usage("?", system=system)) == written(first)


def test_check_32_thinking_and_effort_lose_the_messages_and_defaults_are_the_same(
    side: Side,
) -> None:
    asked = [user(text(prose("c32u"), mark=True))]
    system = [text(prose("c32"), mark=True)]
    first = written(side.usage(*asked, system=system))
    for same in ({"output_config": {"effort": "high"}}, {"thinking": {"type": "disabled"}}):
        assert read(side.usage(*asked, system=system, **same)) == first
    for other in ({"output_config": {"effort": "low"}}, {"thinking": {"type": "adaptive"}}):
        usage = side.usage(*asked, system=system, **other)
        assert 512 <= read(usage) < first
        assert read(usage) + written(usage) == first


def test_check_34_two_models_share_nothing(side: Side) -> None:
    system = [text(prose("c34"), mark=True)]
    first = side.usage("?", system=system)
    other = side.usage("?", system=system, model=SONNET)
    assert (written(other), read(other)) == (written(first), 0)
    assert read(side.usage("?", system=system)) == written(first)
