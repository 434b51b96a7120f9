"""What a body of `POST /v1/messages` means, and what it is told when it means nothing."""

import json
from typing import Any

import pytest
from anthropic.types import ToolUseBlock
from tests.dialects.anthropic.bodies import (
    CALLED,
    HELLO,
    NEW,
    OLD,
    RESULT,
    TIME,
    WEATHER,
    count,
    marked,
    parse,
    refused,
    text,
    user,
)

from headstart.contracts.prompt import Mark
from headstart.dialects.anthropic.errors import envelope
from headstart.dialects.anthropic.request import parse_messages
from headstart.dialects.anthropic.threads import ThreadRefused
from headstart.dialects.chat import Comparison, ToolChoice
from headstart.dialects.dialect import Envelope
from headstart.dialects.errors import ApiError
from headstart.text.chat import Message, Tool, ToolCall


def test_absent_fields_have_anthropics_defaults() -> None:
    asked = parse()
    assert (asked.model, asked.n, asked.stream) == ("m", 1, False)
    assert asked.sampling.max_tokens == 9
    assert (asked.sampling.temperature, asked.sampling.top_p, asked.sampling.top_k) == (1.0, 1.0, 0)
    assert asked.tool_choice == ToolChoice("none")
    assert asked.parallel_tool_calls
    assert asked.comparison is None
    assert asked.wishes.automatic is None
    assert asked.settings == {}
    assert asked.partition == ""


BILLING = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;"
"""As seen in anthropics/claude-code#68900."""


@pytest.mark.parametrize(
    ("system", "shown"),
    [
        ([text(BILLING), text("Be brief.")], ["Be brief."]),
        ([text(f"{BILLING}\nBe brief.")], ["Be brief."]),
        (f"{BILLING}\nBe brief.", ["Be brief."]),
        ([text(BILLING)], []),
        (BILLING, []),
        ([text("Be brief."), text(BILLING)], ["Be brief.", BILLING]),
        (f"Leave {BILLING} out.", [f"Leave {BILLING} out."]),
    ],
)
def test_claude_codes_billing_line_is_no_part_of_the_prompt(system: Any, shown: list[str]) -> None:
    asked = parse(system=system)
    first = asked.conversation.messages[0]
    assert (first.content if first.role == "system" else "") == "\n".join(shown)
    assert [part.shown for part in asked.parts if part.kind == "system"] == [(s,) for s in shown]


def test_a_mark_behind_the_billing_line_stays_where_it_is() -> None:
    first, *_ = parse(system=[text(BILLING), text("Be brief.", **marked())]).parts
    assert (first.path, first.mark) == ("system.1", Mark())


@pytest.mark.parametrize(
    ("thread", "status", "code"),
    [
        ({"type": "create"}, 400, "thread_unsupported_request"),
        ({"type": "continue", "previous_message_id": "msg_1"}, 404, "thread_not_found"),
    ],
)
def test_a_thread_is_refused_with_the_details_that_the_sdk_acts_on(
    thread: dict[str, str], status: int, code: str
) -> None:
    """anthropic 2.10.0: types/thread_unsupported_request_error_details.py and its neighbours."""
    with pytest.raises(ThreadRefused) as caught:
        parse(thread=thread)
    body = envelope(caught.value, "req_1")["error"]
    assert (caught.value.status, body["details"]) == (status, {"error_code": code})
    assert parse(thread=None) == parse()


def test_the_system_prompt_may_be_a_string_or_blocks() -> None:
    for system in ("Be brief.\nBe kind.", [text("Be brief."), text("Be kind.")]):
        first, _ = parse(system=system).conversation.messages
        assert first == Message("system", "Be brief.\nBe kind.")
    (only,) = parse(system="").conversation.messages
    assert only.role == "user"


def test_consecutive_messages_of_one_role_are_one_turn() -> None:
    """As the reference says of `messages`."""
    said = [HELLO, user(text("you")), {"role": "assistant", "content": "Yes?"}, HELLO]
    assert parse(messages=said).conversation.messages == (
        Message("user", "hi\nyou"),
        Message("assistant", "Yes?"),
        Message("user", "hi"),
    )


def test_a_system_message_in_the_conversation_stays_where_it_is() -> None:
    said = [HELLO, {"role": "system", "content": "Rhyme."}]
    assert parse(messages=said).conversation.messages == (
        Message("user", "hi"),
        Message("system", "Rhyme."),
    )


def test_calls_and_results_become_the_canonical_ones() -> None:
    """Templates get ids without Anthropic's prefix: Mistral's takes 9 characters, no more."""
    asked = parse(messages=[HELLO, CALLED, user(RESULT, text("And now?"))], tools=[WEATHER, TIME])
    call = ToolCall("1", "weather", '{"city": "Zürich"}')
    assert asked.conversation.messages == (
        Message("user", "hi"),
        Message("assistant", "I look.", tool_calls=(call,)),
        Message("tool", "rain", tool_call_id="1"),
        Message("user", "And now?"),
    )
    assert asked.conversation.tools == (
        Tool("weather", "Now.", {"type": "object", "properties": {"z": {}, "a": {}}}),
        Tool("time", None, {"type": "object"}),
    )


def test_stab_05_a_calls_input_keeps_its_order_however_often_the_sdk_sends_it_back() -> None:
    """Nested, and in no alphabet's order."""
    value = {"z": 1, "a": {"y": [{"q": None, "b": "é"}], "c": 1.5}, "m": True}
    block: Any = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": value}
    arguments = set()
    for _ in range(100):
        block = ToolUseBlock.model_validate(block).model_dump()
        said = {"role": "assistant", "content": [block]}
        (call,) = parse(messages=[HELLO, said, user(RESULT)]).conversation.messages[1].tool_calls
        arguments.add(call.arguments)
        block["input"] = json.loads(call.arguments)
    assert arguments == {'{"z": 1, "a": {"y": [{"q": null, "b": "é"}], "c": 1.5}, "m": true}'}


def test_a_result_that_failed_says_so() -> None:
    asked = parse(messages=[HELLO, CALLED, user({**RESULT, "is_error": True})])
    assert asked.conversation.messages[-1].content == "<error>rain</error>"


def test_results_may_be_blocks_or_nothing() -> None:
    for content, shown in (([text("a"), text("b")], "a\nb"), (None, ""), ([], "")):
        asked = parse(messages=[HELLO, CALLED, user({**RESULT, "content": content})])
        assert asked.conversation.messages[-1].content == shown


def test_documents_and_search_results_that_are_text_are_read() -> None:
    plain = {"type": "text", "media_type": "text/plain", "data": "Once."}
    document = {"type": "document", "title": "A tale", "source": plain}
    blocks = {"type": "document", "source": {"type": "content", "content": [text("x"), text("y")]}}
    found = {"type": "search_result", "source": "s", "title": "t", "content": [text("z")]}
    asked = parse(messages=[user(document, blocks, found)])
    assert asked.conversation.messages[0].content == "A tale\nOnce.\nx\ny\nt\ns\nz"


def test_thoughts_of_earlier_answers_are_accepted_and_not_shown() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    said = [HELLO, {"role": "assistant", "content": [thought, hidden, text("Ah.")]}, HELLO]
    assert parse(messages=said).conversation.messages[1] == Message("assistant", "Ah.")


def test_the_answers_the_sdk_sends_back_are_accepted() -> None:
    """`citations: null` and `caller: null` are what its models carry."""
    call = {**CALLED["content"][1], "caller": None, "toolset_name": None}
    said = {"role": "assistant", "content": [text("I look.", citations=None), call]}
    assert parse(messages=[HELLO, said, user(RESULT)]) == parse(
        messages=[HELLO, CALLED, user(RESULT)]
    )


@pytest.mark.parametrize(
    ("choice", "meant", "parallel"),
    [
        ({"type": "auto"}, ToolChoice("auto", ("weather", "time")), True),
        (
            {"type": "any", "disable_parallel_tool_use": True},
            ToolChoice("required", ("weather", "time")),
            False,
        ),
        ({"type": "tool", "name": "time"}, ToolChoice("required", ("time",)), True),
        ({"type": "none"}, ToolChoice("none", ("weather", "time")), True),
    ],
)
def test_the_choice_of_tools(choice: Any, meant: ToolChoice, parallel: bool) -> None:
    asked = parse(tools=[WEATHER, TIME], tool_choice=choice)
    assert asked.tool_choice == meant
    assert asked.parallel_tool_calls is parallel


def test_an_output_format_shapes_the_answer() -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    config = {"format": {"type": "json_schema", "schema": schema}}
    assert parse(output_config=config).json_schema == (
        '{"type":"object","properties":{"b":{},"a":{}}}'
    )


def test_what_breaks_a_level_of_the_cache_is_a_setting_by_the_contracts_name() -> None:
    asked = parse(
        tools=[WEATHER],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
        thinking={"type": "adaptive", "display": "omitted"},
        output_config={"effort": "low"},
        speed="fast",
    )
    assert asked.settings == {
        "tool_choice": '{"type":"any","disable_parallel_tool_use":true}',
        "thinking": '{"type":"adaptive","display":"omitted"}',
        "effort": '"low"',
        "speed": '"fast"',
    }
    # docs/contracts.md spells the defaults like this.
    defaults = parse(
        tools=[WEATHER],
        tool_choice={"type": "auto", "disable_parallel_tool_use": False},
        thinking={"type": "disabled"},
        output_config={"effort": "high"},
        speed="standard",
    )
    assert defaults.settings == {
        "tool_choice": '{"type":"auto"}',
        "thinking": '{"type":"disabled"}',
        "effort": '"high"',
        "speed": '"standard"',
    }


def test_workspace_diagnostics_and_the_automatic_marker_are_noted() -> None:
    asked = parse(
        headers={"anthropic-workspace-id": "w1"},
        diagnostics={"previous_message_id": "msg_1"},
        cache_control={"type": "ephemeral", "ttl": "1h"},
    )
    assert asked.partition == "w1"
    assert asked.comparison == Comparison("msg_1")
    assert asked.wishes.automatic == Mark("1h")
    assert parse(diagnostics={"previous_message_id": None}).comparison == Comparison(None)


def test_stop_sequences_tiers_and_metadata() -> None:
    asked = parse(
        stop_sequences=["END", " x"], service_tier="auto", metadata={"user_id": "u"}, stream=True
    )
    assert asked.sampling.stop == ("END", " x")
    assert asked.stream


def test_sampling_is_honoured_in_the_old_version_and_refused_in_the_new_one() -> None:
    fields = {"temperature": 0.5, "top_p": 0.9, "top_k": 4}
    drawn = parse(OLD, **fields).sampling
    assert (drawn.temperature, drawn.top_p, drawn.top_k) == (0.5, 0.9, 4)
    for name, value in fields.items():
        assert refused(NEW, **{name: value}) == f"{name}: Extra inputs are not permitted"
    assert refused(NEW, temperature=1.0) == "temperature: Extra inputs are not permitted"


def test_other_things_the_new_version_turned_away() -> None:
    plain = {"type": "text", "media_type": "text/plain", "data": "Once."}
    document = {"role": "assistant", "content": [{"type": "document", "source": plain}]}
    quoted = user(text("hi", citations=[{"type": "char_location"}]))
    assert parse(OLD, messages=[HELLO, document, HELLO]).conversation.messages[1].content == "Once."
    assert parse(OLD, messages=[quoted])
    assert refused(NEW, messages=[HELLO, document, HELLO]).startswith("messages.1.content.0: ")
    assert refused(NEW, messages=[quoted]).startswith("messages.0.content.0.text.citations: ")


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "anthropic-version: header is required"),
        (
            {"anthropic-version": "2023-01-01"},
            "anthropic-version: '2023-01-01' is not a version: send 2026-10-21 or 2023-06-01",
        ),
    ],
)
def test_a_version_is_required(headers: dict[str, str], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_messages(b"{}", Envelope(headers))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": None}, "model: Field required"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
        ({"foo": 1}, "foo: Extra inputs are not permitted"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": "hi"}, "messages: Input should be a valid list"),
        ({"messages": [user({"type": "text"})]}, "messages.0.content.0.text.text: Field required"),
        (
            {"messages": [user({"type": "video"})]},
            "messages.0.content.0: Input tag 'video' found using 'type' does not match any of the "
            "expected tags",
        ),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages.0.role: Input should be 'user', 'assistant' or 'system'",
        ),
        (
            {"messages": [user({"type": "image", "source": {"type": "url", "url": "x"}})]},
            "messages.0.content.0: This model does not support image input",
        ),
        (
            {"messages": [user(text("", **marked()))]},
            "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
        ),
        ({"messages": [user(text(""))]}, "messages: text content blocks must be non-empty"),
        ({"system": [text("")]}, "system: text content blocks must be non-empty"),
        (
            {"messages": [user()]},
            "messages.0: all messages must have non-empty content",
        ),
        (
            {"messages": [user(text("a", **marked("2h")))]},
            "messages.0.content.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
        ),
        (
            {"cache_control": {"type": "ephemeral", "ttl": "30m"}},
            "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
        ),
        (
            {"cache_control": {"type": "lasting"}},
            "cache_control: Input tag 'lasting' found using 'type' does not match any of the "
            "expected tags",
        ),
        ({"tools": [{"name": "f"}]}, "tools.0.custom.input_schema: Field required"),
        (
            {"tools": [{"name": "f", "input_schema": {}}]},
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            {"tools": [WEATHER, {**TIME, "name": "a b"}]},
            "tools.1.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        ({"tools": [TIME, TIME]}, "tools: Tool names must be unique."),
        (
            {"tools": [{"type": "web_search_20260209", "name": "web_search"}]},
            "tools.0: Input tag 'web_search_20260209' found using 'type' does not match any of the "
            "expected tags: 'custom'",
        ),
        (
            {"tools": [TIME], "tool_choice": {"type": "tool", "name": "weather"}},
            "Tool 'weather' not found in provided tools",
        ),
        (
            {"tool_choice": {"type": "tool"}},
            "tool_choice.tool.name: Field required",
        ),
        (
            {"output_config": {"effort": "extreme"}},
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        ),
        ({"speed": "slow"}, "speed: Input should be 'standard' or 'fast'"),
        ({"service_tier": "x"}, "service_tier: Input should be 'auto' or 'standard_only'"),
        ({"metadata": {"x": 1}}, "metadata.x: Extra inputs are not permitted"),
        (
            {"stop_sequences": [" "]},
            "stop_sequences: each stop sequence must contain non-whitespace",
        ),
        ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
    ],
)
def test_what_means_nothing_is_refused_in_anthropics_words(
    fields: dict[str, Any], message: str
) -> None:
    assert refused(**fields) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"container": "c"},
        {"inference_geo": "us"},
        {"tools": [{**TIME, "defer_loading": True}]},
        {"tools": [{**TIME, "input_examples": [{}]}]},
        {"tools": [{**TIME, "allowed_callers": ["code_execution_20260120"]}]},
        {
            "messages": [
                user(
                    {
                        "type": "document",
                        "source": {"type": "url", "url": "x"},
                    }
                )
            ]
        },
        {
            "messages": [
                user(
                    {
                        "type": "search_result",
                        "source": "s",
                        "title": "t",
                        "content": [text("z")],
                        "citations": {"enabled": True},
                    }
                )
            ]
        },
        {
            "tools": [TIME],
            "tool_choice": {"type": "any"},
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        },
    ],
)
def test_what_this_server_cannot_do_is_refused(fields: dict[str, Any]) -> None:
    assert refused(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"stream": True},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"tools": [TIME], "tool_choice": {"type": "any"}},
        {"tools": [TIME], "tool_choice": {"type": "tool", "name": "time"}},
    ],
)
def test_api_16_a_prewarming_request_asks_for_no_answer(fields: dict[str, Any]) -> None:
    assert parse(max_tokens=0).sampling.max_tokens == 0
    assert refused(max_tokens=0, **fields).startswith("max_tokens: 0 is not supported with this ")


def test_counting_takes_what_shapes_the_prompt_and_nothing_else() -> None:
    shaped: dict[str, Any] = {"system": "Be brief.", "tools": [WEATHER], "speed": "standard"}
    assert count(**shaped).conversation == parse(**shaped).conversation
    assert count(OLD, temperature=0.5)
    for fields in ({"max_tokens": 1}, {"stream": True}, {"temperature": 1.0}):
        with pytest.raises(ApiError) as caught:
            count(**fields)
        assert caught.value.message == f"{next(iter(fields))}: Extra inputs are not permitted"
