"""What a chat completion body means, and what it is told when it means nothing."""

import json
from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

from headstart.contracts.openai_settings import DEFAULTS
from headstart.contracts.prompt import Mark
from headstart.dialects.errors import ApiError
from headstart.dialects.openai.chat_request import KNOWN, UNSUPPORTED, ChatRequest, parse_chat
from headstart.dialects.openai.tools import ToolChoice
from headstart.text.chat import Message, Tool, ToolCall

USER = {"role": "user", "content": "hi"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Now.",
        "parameters": {"type": "object", "properties": {"z": {}, "a": {}}},
    },
}
TIME = {"type": "function", "function": {"name": "time"}}


def parse(**fields: Any) -> ChatRequest:
    return parse_chat(json.dumps({"model": "m", "messages": [USER]} | fields).encode())


def refused(**fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    assert caught.value.status == 400
    assert caught.value.type == "invalid_request_error"
    return caught.value


def test_absent_fields_have_openai_defaults() -> None:
    asked = parse()
    assert asked.n == 1
    assert not asked.stream
    assert not asked.include_usage
    assert asked.parallel_tool_calls
    assert asked.tool_choice == ToolChoice("none")
    assert asked.json_schema is None
    assert asked.sampling.max_tokens is None
    assert asked.sampling.temperature == 1.0
    assert asked.sampling.top_p == 1.0
    assert asked.sampling.logprobs is None


def test_null_means_the_default() -> None:
    names = ["temperature", "top_p", "n", "stop", "seed", "max_tokens", "logit_bias", "logprobs"]
    assert parse(**dict.fromkeys([*names, "tools", "tool_choice", "stream"])) == parse()


def test_temperature_zero_is_not_taken_for_absent() -> None:
    assert parse(temperature=0).sampling.temperature == 0.0


def test_every_role_arrives_in_order() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    asked = parse(
        messages=[
            {"role": "system", "content": "s"},
            {"role": "developer", "content": "d"},
            {"role": "user", "content": "u", "name": "ann"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "r", "tool_call_id": "c1"},
            {"role": "assistant", "content": "a"},
        ]
    )
    assert asked.conversation.messages == (
        Message("system", "s"),
        Message("developer", "d"),
        Message("user", "u", name="ann"),
        Message("assistant", None, tool_calls=(ToolCall("c1", "f", '{"a": 1}'),)),
        Message("tool", "r", tool_call_id="c1"),
        Message("assistant", "a"),
    )


def test_text_parts_become_lines_of_one_content() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    asked = parse(messages=[{"role": "user", "content": parts}])
    assert asked.conversation.messages[0].content == "one\ntwo"


def test_tool_schemas_keep_the_clients_key_order() -> None:
    (tool,) = parse(tools=[WEATHER]).conversation.tools
    assert tool == Tool("weather", "Now.", WEATHER["function"]["parameters"])
    assert tool.parameters is not None
    assert list(tool.parameters["properties"]) == ["z", "a"]


@pytest.mark.parametrize("strict", [True, False, None])
def test_a_strict_function_stays_strict(strict: bool | None) -> None:
    function = {**WEATHER["function"], "strict": strict}
    (tool,) = parse(tools=[{"type": "function", "function": function}]).conversation.tools
    assert tool.strict is bool(strict)


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        (None, ToolChoice("auto", ("weather", "time"))),
        ("auto", ToolChoice("auto", ("weather", "time"))),
        ("none", ToolChoice("none", ("weather", "time"))),
        ("required", ToolChoice("required", ("weather", "time"))),
        ({"type": "function", "function": {"name": "time"}}, ToolChoice("required", ("time",))),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [TIME]}},
            ToolChoice("required", ("time",)),
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [TIME]}},
            ToolChoice("auto", ("time",)),
        ),
    ],
)
def test_tool_choice_says_how_free_the_model_is(choice: Any, meaning: ToolChoice) -> None:
    assert parse(tools=[WEATHER, TIME], tool_choice=choice).tool_choice == meaning


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({"type": "function", "function": {"name": "nope"}}, "tool_choice"),
        ("sometimes", "tool_choice"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}},
            "tool_choice.allowed_tools.tools",
        ),
    ],
)
def test_tool_choices_that_cannot_be_kept_are_refused(choice: Any, param: str) -> None:
    assert refused(tools=[WEATHER, TIME], tool_choice=choice).param == param


def test_a_tool_choice_without_tools_is_refused() -> None:
    assert refused(tool_choice="required").param == "tool_choice"


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ([{"type": "custom", "custom": {"name": "x"}}], "tools[0].type"),
        ([TIME, TIME], "tools[1].function.name"),
        ([{"type": "function", "function": {"name": "two words"}}], "tools[0].function.name"),
        ([{"type": "function", "function": {"name": 3}}], "tools[0].function.name"),
        ([{"type": "function", "function": {}}], "tools[0].function.name"),
        ([{"type": "retrieval"}], "tools[0].type"),
    ],
)
def test_tools_that_cannot_work_are_refused(tools: Any, param: str) -> None:
    assert refused(tools=tools).param == param


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ("hi", "messages"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([USER, {"role": "user"}], "messages[1].content"),
        ([{"content": "x"}], "messages[0].role"),
        ([{"role": "robot", "content": "x"}], "messages[0].role"),
        ([{"role": "tool", "content": "x"}], "messages[0].tool_call_id"),
        ([{"role": "assistant"}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": [{"type": "smell"}]}], "messages[0].content[0].type"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}],
            "messages[0].tool_calls[0].function.arguments",
        ),
    ],
)
def test_a_malformed_message_is_named_by_its_path(messages: Any, param: str) -> None:
    error = refused(messages=messages)
    assert error.param == param
    assert param in error.message


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
    ],
)
def test_parts_that_are_not_text_are_refused_in_the_vendors_words(part: dict[str, Any]) -> None:
    """Its answer for a text model: vllm-project/vllm#11629, roboflow/…vision-api-experiments#11."""
    error = refused(messages=[{"role": "user", "content": [{"type": "text", "text": "a"}, part]}])
    said = f"Invalid content type. {part['type']} is only supported by certain models."
    assert (error.message, error.param, error.code) == (said, "messages[0].content[1].type", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 2.1),
        ("temperature", -0.1),
        ("temperature", "hot"),
        ("top_p", 0),
        ("top_p", 1.1),
        ("presence_penalty", 2.5),
        ("frequency_penalty", -2.5),
        ("repetition_penalty", 0),
        ("min_p", 1.5),
        ("top_k", -2),
        ("n", 0),
        ("n", True),
        ("n", 1.5),
        ("max_tokens", 0),
        ("max_completion_tokens", 0),
        ("seed", 2**63),
        ("seed", "x"),
        ("stop", ["a", "b", "c", "d", "e"]),
        ("stop", ""),
        ("logit_bias", {"x": 1}),
        ("logit_bias", {"-1": 1}),
        ("top_logprobs", 21),
        ("logprobs", 3),
        ("stream", "yes"),
        ("stream_options", {"include_usage": True}),
        ("cache_salt", ""),
        ("response_format", "json"),
        ("modalities", ["audio"]),
    ],
)
def test_values_out_of_range_or_type_name_their_field(name: str, value: Any) -> None:
    fields = {name: value} | ({"logprobs": True} if name == "top_logprobs" else {})
    error = refused(**fields)
    assert error.param == name
    assert name in error.message


def test_an_element_of_the_wrong_type_is_named_by_its_index() -> None:
    assert refused(stop=["a", 1]).param == "stop[1]"


def test_a_logit_bias_beyond_100_is_refused() -> None:
    error = refused(logit_bias={"5": 101})
    assert error.param is not None
    assert error.param.startswith("logit_bias")


def test_top_logprobs_without_logprobs_is_refused() -> None:
    assert refused(top_logprobs=3).param == "top_logprobs"


def test_logprobs_alone_asks_for_the_chosen_token() -> None:
    assert parse(logprobs=True).sampling.logprobs == 0
    assert parse(logprobs=True, top_logprobs=20).sampling.logprobs == 20
    assert parse(logprobs=False).sampling.logprobs is None


def test_logit_bias_keys_are_token_ids() -> None:
    assert parse(logit_bias={"50256": -100, "7": 100}).sampling.logit_bias == {50256: -100, 7: 100}


def test_both_names_of_the_token_limit_work_and_may_not_disagree() -> None:
    assert parse(max_tokens=7).sampling.max_tokens == 7
    assert parse(max_completion_tokens=7).sampling.max_tokens == 7
    assert parse(max_tokens=7, max_completion_tokens=7).sampling.max_tokens == 7
    assert refused(max_tokens=7, max_completion_tokens=8).param == "max_tokens"


def test_one_stop_may_come_bare() -> None:
    assert parse(stop="x").sampling.stop == ("x",)
    assert parse(stop=["a", "b", "c", "d"]).sampling.stop == ("a", "b", "c", "d")


def test_response_formats_become_schemas() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}
    assert parse(response_format={"type": "text"}).json_schema is None
    assert json.loads(parse(response_format={"type": "json_object"}).json_schema or "") == {
        "type": "object"
    }
    text = parse(response_format=wanted).json_schema or ""
    assert list(json.loads(text)["properties"]) == ["b", "a"]


def test_a_response_format_and_a_forced_call_exclude_each_other() -> None:
    fields = {"tools": [TIME], "tool_choice": "required"}
    assert refused(response_format={"type": "json_object"}, **fields).param == "response_format"


def test_fields_without_effect_change_nothing() -> None:
    assert parse(user="ann", metadata={"a": "b"}, safety_identifier="x") == parse()


def test_every_field_of_the_sdk_is_known() -> None:
    assert set(CompletionCreateParamsStreaming.__annotations__) <= KNOWN


def test_unknown_fields_are_refused_in_openais_words() -> None:
    one, two = refused(whatever=[1]), refused(whatever=[1], more=None)
    assert one.message == "Unrecognized request argument supplied: whatever"
    assert two.message == "Unrecognized request arguments supplied: whatever, more"
    assert (one.param, one.code) == (None, None)


def test_unknown_fields_of_messages_come_back_from_other_servers_and_are_ignored() -> None:
    assert parse(messages=[USER | {"annotations": [], "reasoning_content": None}]) == parse()


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_fields_whose_silent_loss_would_lie_are_refused(name: str) -> None:
    error = refused(**{name: {"x": 1}})
    assert (error.param, error.code) == (name, "unsupported_parameter")
    assert not refused_names(**{name: None})


def refused_names(**fields: Any) -> bool:
    try:
        parse(**fields)
    except ApiError:
        return True
    return False


def test_what_a_request_says_of_the_cache_is_kept_for_the_contract() -> None:
    marked = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    asked = parse(
        messages=[{"role": "user", "content": [marked, {"type": "text", "text": "b"}]}],
        prompt_cache_key="k",
        prompt_cache_options={"mode": "explicit", "ttl": "30m"},
        parallel_tool_calls=False,
        reasoning_effort="low",
    )
    first, second = asked.parts
    assert (first.mark, second.mark) == (Mark(), None)
    assert first.path == "messages[0].content[0]"
    assert (asked.partition, asked.wishes.mode, asked.wishes.ttl) == ("k", "explicit", "30m")
    assert asked.settings == {"parallel_tool_calls": "false", "reasoning.effort": '"low"'}


def test_what_is_the_default_is_said_as_the_contract_says_it() -> None:
    asked = parse(
        response_format={"type": "text"},
        parallel_tool_calls=True,
        verbosity="medium",
        service_tier="auto",
    )
    assert asked.settings == DEFAULTS


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt_cache_options": {"ttl": "5m"}}, "prompt_cache_options.ttl"),
        ({"prompt_cache_options": {"ttl": "12h"}}, "prompt_cache_options.ttl"),
        ({"prompt_cache_options": {"mode": "auto"}}, "prompt_cache_options.mode"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"verbosity": "chatty"}, "verbosity"),
        ({"service_tier": "steerage"}, "service_tier"),
        ({"prompt_cache_retention": "1h"}, "prompt_cache_retention"),
    ],
)
def test_values_that_chat_completions_do_not_know_are_refused(
    fields: dict[str, Any], param: str
) -> None:
    error = refused(**fields)
    assert (error.param, error.code) == (param, "invalid_value")
    assert error.message.startswith("Invalid value: '")


def test_cache_options_that_only_responses_know_are_unknown_here() -> None:
    error = refused(prompt_cache_options={"prewarm": True})
    assert error.message == "Unknown parameter: 'prompt_cache_options.prewarm'."
    assert (error.param, error.code) == ("prompt_cache_options.prewarm", "unknown_parameter")


def test_the_parts_of_a_request_are_tools_first_and_differ_by_all_they_say() -> None:
    asked = parse(
        tools=[TIME],
        messages=[
            {"role": "system", "content": "same"},
            {"role": "user", "content": "same"},
            {"role": "user", "content": "same", "name": "ann"},
            {"role": "user", "content": [{"type": "text", "text": "same"}]},
        ],
    )
    assert [part.kind for part in asked.parts] == ["tool", "system", "user", "user", "user"]
    _, system, user, named, listed = asked.parts
    assert len({system.digest, user.digest, named.digest}) == 3
    assert listed.digest == user.digest


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b"\xff", b'{"model":"m",}', b'{"a":' * 3000, b'{"a":"\\ud800"}'],
)
def test_bodies_that_are_no_json_object_are_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        parse_chat(body)
    assert caught.value.status == 400


def test_a_missing_model_is_named() -> None:
    with pytest.raises(ApiError) as caught:
        parse_chat(json.dumps({"messages": [USER]}).encode())
    assert caught.value.param == "model"
    assert caught.value.code == "missing_required_parameter"
