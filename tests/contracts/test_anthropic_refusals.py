"""Texts and their order: dialects.md 3.3, seen by live probes."""

import pytest
from tests.contracts.build import numbered, part, prompt, system, tool, user

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Refusal
from headstart.contracts.entries import Entries
from headstart.contracts.prompt import Prompt

ORDER = (
    "{}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note "
    "that blocks are processed in the following order: `tools`, `system`, `messages`."
)


def refusal(asked: Prompt) -> Refusal:
    with pytest.raises(Refusal) as refused:
        Anthropic(minimum=100).plan(asked, Entries(), 0.0)
    assert refused.value.status == 400
    return refused.value


def accepted(asked: Prompt) -> bool:
    return bool(Anthropic(minimum=100).plan(asked, Entries(), 0.0).writes)


def test_a5_four_markers_are_accepted_and_five_refused() -> None:
    assert accepted(prompt(*numbered(5, marks=[1, 2, 3])))
    assert accepted(prompt(*numbered(5, marks=[1, 2, 3, 4])))
    text = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert str(refusal(prompt(*numbered(5, marks=[1, 2, 3, 4, 5])))) == text


def test_a5_the_automatic_marker_takes_a_slot_even_where_it_changes_nothing() -> None:
    assert accepted(prompt(*numbered(5, marks=[1, 2, 5]), automatic=True))
    text = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert str(refusal(prompt(*numbered(5, marks=[1, 2, 3, 5]), automatic=True))) == text


def test_a9_an_hour_after_five_minutes_is_refused_at_the_first_offender() -> None:
    refused = refusal(prompt(tool(mark=True), system(mark="1h"), user(mark="1h")))
    assert str(refused) == ORDER.format("system.1.cache_control.ttl")
    assert refused.path == "system.1.cache_control.ttl"
    assert accepted(prompt(tool(mark="1h"), system(mark=True), user(mark="5m")))


def test_a6_another_lifetime_on_the_automatic_target_is_refused() -> None:
    refused = refusal(prompt(user(mark="5m"), automatic="1h"))
    assert str(refused) == (
        "Top-level cache_control has ttl='1h' but the target block already has cache_control with "
        "ttl='5m'. When both are specified on the same block, they must have matching TTLs."
    )
    assert accepted(prompt(user(mark="1h"), automatic="1h"))
    assert accepted(prompt(user(mark=True), automatic="5m"))


def test_a9_an_automatic_hour_after_five_minutes_is_refused() -> None:
    refused = refusal(prompt(user(mark=True), user(text="last"), automatic="1h"))
    assert str(refused) == ORDER.format("cache_control")
    assert accepted(prompt(user(mark="1h"), user(text="last"), automatic=True))


def test_the_checks_come_in_the_vendors_order() -> None:
    many = [user(text=str(index), mark=True) for index in range(4)]
    assert "Found 5" in str(refusal(prompt(*many, user(mark="1h"))))
    disordered = prompt(user(mark=True), user(text="b", mark="1h"), user(mark=True), automatic="1h")
    assert str(refusal(disordered)).startswith("messages.1.content.0.cache_control.ttl")
    assert "matching TTLs" in str(refusal(prompt(user(mark=True), automatic="1h")))


def test_a14_an_empty_text_cannot_carry_a_marker() -> None:
    refused = refusal(prompt(user(), user(0, mark=True, markable=False)))
    text = "messages.1.content.0.text: cache_control cannot be set for empty text blocks"
    assert str(refused) == text


def test_a14_a_thinking_block_cannot_carry_a_marker() -> None:
    refused = refusal(prompt(user(), part("thinking", mark=True, markable=False)))
    assert refused.path == "messages.1.content.0.thinking.cache_control"


@pytest.mark.parametrize("asked", [prompt(user(mark="2h")), prompt(user(), automatic="2h")])
def test_an_unknown_lifetime_is_refused(asked: Prompt) -> None:
    assert str(refusal(asked)).endswith("ttl: Input should be '5m' or '1h'")
