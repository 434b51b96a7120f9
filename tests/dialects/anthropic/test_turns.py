"""The order of messages. The texts are the API's own, as clients recorded them in 2026."""

from typing import Any

import pytest
from tests.dialects.anthropic.bodies import CALLED, HELLO, RESULT, parse, refused, text, user

SYSTEM: dict[str, Any] = {"role": "system", "content": "x"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "Yes?"}


@pytest.mark.parametrize(
    ("messages", "beginning"),
    [
        ([SYSTEM, SYSTEM, HELLO], "messages.0: use the top-level 'system' parameter"),
        ([HELLO, ANSWER, SYSTEM, HELLO], "messages.2: role 'system' must follow a 'user' message"),
        (
            [HELLO, SYSTEM, SYSTEM, HELLO],
            "messages.2: role 'system' must precede an 'assistant' message or end the array",
        ),
        (
            [HELLO, HELLO, ANSWER, SYSTEM, HELLO],
            "messages.3: role 'system' must follow a 'user' message",
        ),
        (
            [HELLO, CALLED, SYSTEM, user(RESULT)],
            "messages.2: role 'system' must follow a 'user' message",
        ),
        (
            [HELLO, {"role": "system", "content": []}],
            "messages.1: system content must contain at least one block",
        ),
        (
            [HELLO, {"role": "system", "content": ""}],
            "messages.1: system content must contain at least one block",
        ),
    ],
)
def test_a_system_message_stands_between_user_and_assistant(messages: Any, beginning: str) -> None:
    assert refused(messages=messages).startswith(beginning)


def test_system_messages_may_come_in_groups() -> None:
    assert parse(messages=[HELLO, SYSTEM, SYSTEM, ANSWER, HELLO, SYSTEM])


def test_a_result_needs_its_call_in_the_turn_before() -> None:
    message = (
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message."
    )
    assert refused(messages=[HELLO, ANSWER, user(RESULT)]) == message
    assert refused(messages=[user(RESULT)]).startswith("messages.0.content.0: unexpected")


def test_a_call_needs_its_result_in_the_turn_after() -> None:
    assert refused(messages=[HELLO, CALLED, HELLO]) == (
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def test_calls_and_results_come_once() -> None:
    assert refused(messages=[HELLO, CALLED, user(RESULT, RESULT)]).startswith(
        "messages.2.content.1: each tool_use must have a single result"
    )
    twice = [HELLO, CALLED, user(RESULT), CALLED, user(RESULT)]
    assert refused(messages=twice) == "messages.3.content.1: `tool_use` ids must be unique"


def test_the_turns_of_one_role_are_paired_as_one() -> None:
    assert parse(messages=[HELLO, CALLED, user(RESULT), HELLO])
    assert parse(messages=[HELLO, CALLED, ANSWER, user(RESULT)])


def test_blocks_stand_in_messages_of_their_role() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    call = CALLED["content"][1]
    for message in (user(call), user(thought), {"role": "assistant", "content": [RESULT]}):
        assert "blocks can only be in" in refused(messages=[HELLO, ANSWER, message])


def test_an_answer_cannot_be_begun_for_the_model() -> None:
    assert refused(messages=[HELLO, {"role": "assistant", "content": [text("The")]}]) == (
        "This model does not support assistant message prefill. "
        "The conversation must end with a user message."
    )
