"""What a response's body means, and what it is told when it means nothing."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses.input_token_count_params import InputTokenCountParams
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from tests.dialects.openai.responses.past import KnownPast

from headstart.contracts.prompt import Mark
from headstart.dialects.chat import ToolChoice
from headstart.dialects.errors import ApiError
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.responses.fields import UNSUPPORTED
from headstart.dialects.openai.responses.request import (
    CREATE,
    INCLUDABLE,
    LOGPROBS,
    PROMPT,
    AskedResponse,
    parse_count,
    parse_create,
)
from headstart.text.chat import Conversation, Message, Tool, ToolCall

WEATHER = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
TIME = {"type": "function", "name": "time"}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "rain"}
USER = {"role": "user", "content": "hi"}


def parse(past: KnownPast | None = None, **fields: Any) -> AskedResponse:
    body = json.dumps({"model": "m", "input": "hi"} | fields).encode()
    return parse_create(body, past or KnownPast(), "r")


def refused(status: int = 400, past: KnownPast | None = None, **fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        parse(past, **fields)
    assert caught.value.status == status
    return caught.value


def said(*items: Any, **fields: Any) -> tuple[Message, ...]:
    return parse(input=list(items), **fields).chat.conversation.messages


def test_a_string_is_what_the_user_says() -> None:
    asked = parse()
    assert asked.chat.conversation == Conversation((Message("user", "hi"),))
    assert asked.store
    assert not asked.chat.stream
    assert asked.chat.sampling.max_tokens is None
    assert asked.chat.tool_choice == ToolChoice("none")
    (item,) = asked.said.items
    assert item.shown()["content"] == [{"type": "input_text", "text": "hi"}]


def test_every_field_of_the_sdk_is_known() -> None:
    known = PROMPT | CREATE
    assert set(ResponseCreateParamsStreaming.__annotations__) <= known
    assert set(InputTokenCountParams.__annotations__) <= PROMPT


def test_null_means_the_default() -> None:
    names = sorted((PROMPT | CREATE) - {"model", "input"})
    assert parse(**dict.fromkeys(names)) == parse()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"x": 1}, "x"),
        ({"seeed": 1}, "seeed"),
        ({"text": {"formt": {}}}, "text.formt"),
        ({"reasoning": {"budget": 5}}, "reasoning.budget"),
        ({"prompt_cache_options": {"x": 1}}, "prompt_cache_options.x"),
        ({"input": [USER | {"x": 1}]}, "input[0].x"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "", "x": 1}]}]},
            "input[0].content[0].x",
        ),
        ({"tools": [TIME | {"x": 1}]}, "tools[0].x"),
    ],
)
def test_an_unknown_field_is_refused_at_any_depth(fields: dict[str, Any], path: str) -> None:
    error = refused(**fields)
    assert error.message == f"Unknown parameter: '{path}'."
    assert (error.param, error.code) == (path, "unknown_parameter")


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_what_is_not_done_here_is_refused_by_name(name: str) -> None:
    error = refused(**{name: {"id": "x"}})
    assert (error.param, error.code) == (name, "unsupported_parameter")


def test_stab_10_a_history_is_never_trimmed_for_the_client() -> None:
    """So no trim of ours can move a prefix: what doesn't fit is refused, and the client cuts."""
    error = refused(truncation="auto")
    assert (error.param, error.code) == ("truncation", "unsupported_value")
    assert "never cut" in error.message


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"model": None}, "model", "Missing required parameter: 'model'."),
        ({"input": None}, None, 'One of "input" or "previous_response_id"'),
        ({"input": []}, None, 'One of "input" or "previous_response_id"'),
        (
            {"max_output_tokens": 15},
            "max_output_tokens",
            "Expected a value >= 16, but got 15 instead.",
        ),
        ({"top_logprobs": 21}, "top_logprobs", "20"),
        ({"temperature": 2.1}, "temperature", "temperature"),
        (
            {"reasoning": {"mode": "pro"}},
            "reasoning.mode",
            "Unsupported parameter: 'reasoning.mode' is not supported with this model.",
        ),
        (
            {"reasoning": {"summary": "long"}},
            "reasoning.summary",
            "Invalid value: 'long'. Supported values are: 'auto', 'concise', and 'detailed'.",
        ),
        ({"reasoning": {"effort": "big"}}, "reasoning.effort", "Invalid value: 'big'."),
        ({"text": {"verbosity": "big"}}, "text.verbosity", "Invalid value: 'big'."),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type", "Invalid value: 'xml'."),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema", ""),
        ({"service_tier": "big"}, "service_tier", "Invalid value: 'big'."),
        ({"include": ["everything"]}, "include[0]", "Invalid value: 'everything'."),
        ({"stream_options": {}}, "stream_options", "only allowed when 'stream'"),
        (
            {"prompt_cache_options": {"ttl": "5m"}},
            "prompt_cache_options.ttl",
            "Invalid value: '5m'. Supported values are: '30m' and '12h'.",
        ),
        (
            {"prompt_cache_options": {"mode": "auto"}},
            "prompt_cache_options.mode",
            "Invalid value: 'auto'. Supported values are: 'implicit' and 'explicit'.",
        ),
        ({"prompt_cache_retention": "1h"}, "prompt_cache_retention", "'in_memory' and '24h'"),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata", ""),
        ({"metadata": {"a": "x" * 513}}, None, ""),
        ({"tools": [{"type": "web_search"}]}, "tools", "Hosted tool 'web_search' is not supported"),
        ({"tools": [{"type": "custom", "name": "x"}]}, "tools[0].type", "custom"),
        ({"tools": [{"type": "magic"}]}, "tools[0].type", "Invalid value: 'magic'."),
        ({"tools": [TIME, TIME]}, "tools[1].name", "twice"),
        ({"tools": [TIME | {"defer_loading": True}]}, "tools[0].defer_loading", "not supported"),
        ({"tool_choice": "required"}, "tool_choice", "only allowed when 'tools'"),
        ({"tools": [TIME], "tool_choice": "some"}, "tool_choice", "Invalid value: 'some'."),
        (
            {"tools": [TIME], "tool_choice": {"type": "function", "name": "no"}},
            "tool_choice",
            "Tool choice 'no' not found in 'tools' parameter.",
        ),
        ({"tools": [TIME], "tool_choice": {"type": "mcp"}}, "tools", "Hosted tool 'mcp'"),
        (
            {
                "tools": [TIME],
                "tool_choice": "required",
                "text": {"format": {"type": "json_object"}},
            },
            "text.format",
            "can't both shape",
        ),
        ({"cache_salt": ""}, "cache_salt", "must not be empty"),
    ],
)
def test_what_cannot_work_is_refused_with_its_path(
    fields: dict[str, Any], param: str | None, message: str
) -> None:
    error = refused(**fields)
    assert message in error.message
    if param is not None:
        assert (error.param or "").startswith(param)


@pytest.mark.parametrize(
    ("item", "param", "message"),
    [
        ({"type": "spell"}, "input[0].type", "Invalid value: 'spell'."),
        ({"type": "web_search_call", "id": "w"}, "input[0]", "'web_search_call'"),
        (
            {"type": "reasoning", "id": "rs_1", "summary": []},
            "input",
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        ),
        ({"type": "reasoning", "id": "r"}, "input[0].summary", "Missing required parameter"),
        ({"type": "reasoning", "id": "r", "summary": "s"}, "input[0].summary", "array"),
        (
            {"type": "reasoning", "summary": [{"type": "text", "text": "t"}]},
            "input[0].summary[0].type",
            "'text'",
        ),
        (
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text"}]},
            "input[0].content[0].text",
            "Missing required parameter",
        ),
        (
            {"type": "reasoning", "summary": [], "encrypted_content": 1},
            "input[0].encrypted_content",
            "str",
        ),
        ({"type": "reasoning", "summary": [], "signature": ""}, "input[0].signature", "Unknown"),
        ({"role": "robot", "content": ""}, "input[0].role", "robot"),
        ({"role": "user"}, "input[0].content", "Missing required parameter"),
        (
            {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]},
            "input[0].content[0].type",
            "Invalid content type. input_image is only supported by certain models.",
        ),
        (
            {"role": "user", "content": [{"type": "output_text", "text": "x"}]},
            "input[0].content[0].type",
            "Invalid value: 'output_text'. Supported values are: 'input_text'.",
        ),
        (
            {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]},
            "input[0].content[0].type",
            "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        ),
        (
            RESULT | {"output": [{"type": "input_file", "file_id": "x"}]},
            "input[0].output[0].type",
            "input_file",
        ),
        (RESULT, "input", "No tool call found for function call output with call_id c1."),
        (CALL, "input", "No tool output found for function call c1."),
    ],
)
def test_an_item_that_cannot_be_read_is_named(item: Any, param: str, message: str) -> None:
    error = refused(input=[item])
    assert error.param == param
    assert message in error.message


def test_a_call_belongs_to_the_text_before_it() -> None:
    second = CALL | {"call_id": "c2", "arguments": '{"a": 1}'}
    messages = said(
        USER,
        {"role": "assistant", "content": [{"type": "output_text", "text": "Wait."}]},
        CALL,
        second,
        RESULT,
        RESULT | {"call_id": "c2"},
        CALL | {"call_id": "c3"},
        RESULT | {"call_id": "c3", "output": [{"type": "input_text", "text": "sun"}]},
    )
    assert messages == (
        Message("user", "hi"),
        Message(
            "assistant",
            "Wait.",
            tool_calls=(
                ToolCall("c1", "weather", "{}"),
                ToolCall("c2", "weather", '{"a": 1}'),
            ),
        ),
        Message("tool", "rain", tool_call_id="c1"),
        Message("tool", "rain", tool_call_id="c2"),
        Message("assistant", None, tool_calls=(ToolCall("c3", "weather", "{}"),)),
        Message("tool", "sun", tool_call_id="c3"),
    )


def test_instructions_come_first_and_are_not_kept() -> None:
    asked = parse(instructions="Be brief.")
    assert asked.chat.conversation.messages[0] == Message("system", "Be brief.")
    assert asked.chat.parts[0].path == "instructions"
    assert asked.said.messages == (Message("user", "hi"),)
    assert asked.echo["instructions"] == "Be brief."


def test_the_same_conversation_has_the_same_parts_as_in_a_chat_completion() -> None:
    messages: list[ChatCompletionMessageParam | dict[str, Any]] = [
        {"role": "system", "content": "s"},
        USER,
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]
    tool = {"type": "function", "function": {"name": "time"}}
    chat = parse_chat(json.dumps({"model": "m", "messages": messages, "tools": [tool]}).encode())
    asked = parse(
        instructions="s",
        input=[USER, {"role": "assistant", "content": "Wait."}, CALL, RESULT],
        tools=[TIME],
    ).chat
    assert asked.conversation == chat.conversation
    for ours, theirs in zip(asked.parts, chat.parts, strict=True):
        assert (ours.kind, ours.digest, ours.shown) == (theirs.kind, theirs.digest, theirs.shown)


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        (None, ToolChoice("auto", ("weather", "time"))),
        ("none", ToolChoice("none", ("weather", "time"))),
        ("required", ToolChoice("required", ("weather", "time"))),
        ({"type": "function", "name": "time"}, ToolChoice("required", ("time",))),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [TIME]},
            ToolChoice("required", ("time",)),
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": [TIME]}, ToolChoice("auto", ("time",))),
    ],
)
def test_tool_choice_says_how_free_the_model_is(choice: Any, meaning: ToolChoice) -> None:
    asked = parse(tools=[WEATHER | {"strict": True}, TIME], tool_choice=choice)
    assert asked.chat.tool_choice == meaning
    assert asked.chat.conversation.tools[0] == Tool(
        "weather", None, {"type": "object"}, strict=True
    )
    assert [tool["strict"] for tool in asked.echo["tools"]] == [True, False]
    assert asked.echo["tool_choice"] == (choice or "auto")


def test_a_schema_keeps_its_order_and_a_plain_text_has_none() -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    wanted = {"type": "json_schema", "name": "x", "schema": schema, "strict": True}
    assert parse(text={"format": {"type": "text"}}).chat.json_schema is None
    assert parse(text={"format": {"type": "json_object"}}).chat.json_schema == '{"type":"object"}'
    asked = parse(text={"format": wanted})
    assert list(json.loads(asked.chat.json_schema or "")["properties"]) == ["b", "a"]
    assert asked.echo["text"] == {"format": wanted, "verbosity": "medium"}


def test_logprobs_come_where_they_are_included_and_no_calls_can_come() -> None:
    assert parse(include=[LOGPROBS]).chat.sampling.logprobs == 0
    assert parse(include=[LOGPROBS], top_logprobs=3).chat.sampling.logprobs == 3
    assert parse(top_logprobs=3).chat.sampling.logprobs is None
    assert parse(include=list(INCLUDABLE[:-1])).chat.sampling.logprobs is None
    assert parse(include=[LOGPROBS], tools=[TIME]).chat.sampling.logprobs is None


def test_what_a_request_says_of_the_cache_is_kept_for_the_contract() -> None:
    marked = {
        "type": "input_text",
        "text": "a",
        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"},
    }
    asked = parse(
        input=[
            {"role": "user", "content": [marked, {"type": "input_text", "text": "b"}]},
            CALL,
            RESULT | {"output": [marked]},
        ],
        prompt_cache_key="k",
        prompt_cache_options={"mode": "explicit", "ttl": "12h", "comparison_response_id": "resp_0"},
        reasoning={"effort": "low"},
        text={"verbosity": "low"},
        service_tier="flex",
        parallel_tool_calls=False,
    )
    chat = asked.chat
    assert [part.mark for part in chat.parts] == [Mark("12h"), None, None, Mark("12h")]
    assert chat.parts[0].path == "input[0].content[0]"
    assert chat.parts[3].path == "input[2].output[0]"
    assert (chat.partition, chat.wishes.mode, chat.wishes.ttl) == ("k", "explicit", "12h")
    assert asked.comparison == "resp_0"
    assert chat.settings == {
        "parallel_tool_calls": "false",
        "reasoning.effort": '"low"',
        "text.verbosity": '"low"',
        "service_tier": '"flex"',
    }
    assert asked.echo["prompt_cache_options"] == {
        "mode": "explicit",
        "ttl": "12h",
        "comparison_response_id": "resp_0",
    }


@pytest.mark.parametrize(
    ("breakpoint", "name"),
    [({"mode": "implicit"}, "mode"), ({"mode": "explicit", "ttl": "5m"}, "ttl")],
)
def test_a_breakpoint_of_another_kind_is_refused(breakpoint: Any, name: str) -> None:
    part = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": breakpoint}
    error = refused(input=[{"role": "user", "content": [part]}])
    path = f"input[0].content[0].prompt_cache_breakpoint.{name}"
    assert (error.param, error.code) == (path, "invalid_value")


def test_a_breakpoint_is_known_on_input_text_alone() -> None:
    part = {"type": "output_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    error = refused(input=[{"role": "assistant", "content": [part]}])
    assert error.code == "unknown_parameter"


def test_a_prewarm_generates_nothing() -> None:
    asked = parse(prompt_cache_options={"prewarm": True}, max_output_tokens=100)
    assert asked.chat.sampling.max_tokens == 0


def response(asked: AskedResponse, *output: Any) -> dict[str, Any]:
    return {"id": f"resp_{len(output)}", "output": list(output)}


def test_a_chain_says_what_the_whole_conversation_would_have_said() -> None:
    past = KnownPast()
    answer = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Wait.", "annotations": [], "logprobs": []}],
    }
    call = CALL | {"id": "fc_1", "status": "completed"}
    first = parse(instructions="s")
    turn = first.turn(response(first, answer, call), past.item)
    past.turns[turn.id] = turn
    second = parse(past, input=[RESULT, USER], previous_response_id=turn.id, instructions="s")
    whole = parse(input=[USER, answer, call, RESULT, USER], instructions="s")
    assert second.chat.conversation == whole.chat.conversation
    assert [(p.kind, p.digest, p.message) for p in second.chat.parts] == [
        (p.kind, p.digest, p.message) for p in whole.chat.parts
    ]
    assert second.previous == turn.id
    third = second.turn(response(second), past.item)
    past.turns[third.id] = third
    assert len(past.chain(third.id)) == 2


def test_a_previous_response_that_is_not_there_is_400_and_an_item_404() -> None:
    gone = refused(previous_response_id="resp_x")
    assert gone.message == "Previous response with id 'resp_x' not found."
    assert (gone.param, gone.code) == ("previous_response_id", "previous_response_not_found")
    item = refused(404, input=[{"type": "item_reference", "id": "msg_x"}])
    assert item.message.startswith("Item with id 'msg_x' not found.")


def test_a_reference_stands_for_its_item() -> None:
    past = KnownPast()
    first = parse(input=[USER | {"id": "msg_7"}])
    turn = first.turn(response(first), past.item)
    past.turns[turn.id] = turn
    asked = parse(past, input=[{"type": "item_reference", "id": "msg_7"}, USER])
    assert asked.chat.conversation.messages == (Message("user", "hi"), Message("user", "hi"))


def test_a_count_reads_the_same_prompt_and_nothing_else() -> None:
    body: dict[str, Any] = {"input": [USER, CALL, RESULT], "tools": [WEATHER], "instructions": "s"}
    counted = parse_count(json.dumps(body).encode(), KnownPast(), "m")
    assert counted.model == "m"
    assert counted.conversation == parse(**body).chat.conversation
    with pytest.raises(ApiError) as caught:
        parse_count(json.dumps(body | {"temperature": 1}).encode(), KnownPast(), "m")
    assert caught.value.message == "Unknown parameter: 'temperature'."
