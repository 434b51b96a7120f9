"""Proto-JSON: two spellings, nulls, numbers as strings, unknown names."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.request import GenerateFields
from headstart.dialects.gemini.wire import camel, read

BODY: dict[str, Any] = {
    "system_instruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"max_x": None}}}]},
        {"parts": [{"function_response": {"name": "f", "response": {"the_id": 1}}}]},
    ],
    "tools": [
        {
            "function_declarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "max_properties": 3}},
                {"name": "g", "parameters_json_schema": {"type": "object", "x_y": 1}},
            ]
        }
    ],
    "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}},
    "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "generation_config": {
        "max_output_tokens": 5,
        "top_k": 40,
        "thinking_config": {"thinking_budget": 0, "include_thoughts": False},
    },
    "cached_content": "cachedContents/abc",
}


def fields(body: Any) -> GenerateFields:
    return read(json.dumps(body).encode(), GenerateFields)


def problem(body: Any) -> str:
    with pytest.raises(ApiError) as caught:
        fields(body)
    assert caught.value.status == 400
    return caught.value.message


def renamed(value: Any, which: Any) -> Any:
    """`value` with the keys for which `which` says so in camelCase, clients' own keys excepted."""
    if isinstance(value, list):
        return [renamed(each, which) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        camel(key) if which() else key: each
        if key in ("args", "response", "parameters_json_schema")
        else renamed(each, which)
        for key, each in value.items()
    }


@settings(max_examples=examples(50))
@given(st.randoms(use_true_random=False))
def test_any_mixture_of_spellings_says_the_same(random: Any) -> None:
    assert fields(renamed(BODY, lambda: random.random() < 0.5)) == fields(BODY)


def test_what_clients_own_keeps_its_keys_and_nulls() -> None:
    read = fields(renamed(BODY, lambda: True))
    assert read.contents is not None
    assert read.tools is not None
    assert read.contents[1].parts[0].function_call.args == {"max_x": None}  # type: ignore[index, union-attr]
    assert read.tools[0].function_declarations[1].parameters_json_schema["x_y"] == 1  # type: ignore[index]


def test_null_is_absent() -> None:
    nothing = fields({"contents": None, "generationConfig": {"topK": None}, "tools": None})
    assert nothing == fields({"generationConfig": {}})


def test_one_value_stands_for_a_list_of_one() -> None:
    """Google's sample system_instruction.sh, and a tool and a stop sequence in the same way."""
    single = {
        "systemInstruction": {"parts": {"text": "You are a cat. Your name is Neko."}},
        "contents": {"parts": {"text": "Hello there"}},
        "tools": {"functionDeclarations": {"name": "f"}},
        "generationConfig": {"stopSequences": "x"},
    }
    listed = {
        "systemInstruction": {"parts": [{"text": "You are a cat. Your name is Neko."}]},
        "contents": [{"parts": [{"text": "Hello there"}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "generationConfig": {"stopSequences": ["x"]},
    }
    assert fields(single) == fields(listed)
    assert problem({"contents": {"parts": {"y": 1}}}) == (
        "Invalid JSON payload received. Unknown name \"y\" at 'contents.parts': Cannot find field."
    )


@pytest.mark.parametrize("top_k", [40, 40.0, "40"])
def test_numbers_come_in_every_way_that_proto_json_has(top_k: Any) -> None:
    config = fields({"generationConfig": {"topK": top_k, "temperature": "0.5"}}).generation_config
    assert config is not None
    assert (config.top_k, config.temperature) == (40, 0.5)


def test_unknown_names_are_all_told_with_where_they_stand() -> None:
    body = {
        "x": 1,
        "contents": [{"parts": [{"text": "a", "y": None}]}],
        "generationConfig": {"responseSchema": {"properties": {"p": {"const": 1}}}},
    }
    assert problem(body).splitlines() == [
        'Invalid JSON payload received. Unknown name "x": Cannot find field.',
        "Invalid JSON payload received. Unknown name \"y\" at 'contents[0].parts[0]': "
        "Cannot find field.",
        'Invalid JSON payload received. Unknown name "const" at '
        "'generation_config.response_schema.properties[0].value': Cannot find field.",
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"contents": [{"parts": [{"text": 5}]}]}, "'contents[0].parts[0].text' (TYPE_STRING), 5"),
        (
            {"generationConfig": {"temperature": "hot"}},
            "'generation_config.temperature' (TYPE_FLOAT), \"hot\"",
        ),
        ({"generationConfig": {"topK": 1.5}}, "'generation_config.top_k' (TYPE_INT32), 1.5"),
        (
            {"generationConfig": {"temperature": 3}},
            "'generation_config.temperature', 3: Expected `float` <= 2.0.",
        ),
        ({"contents": "a"}, "'contents[0]', \"a\": Expected `object`, got `str`."),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "any"}}},
            "'tool_config.function_calling_config.mode', \"any\": Invalid enum value 'any'.",
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_path(body: Any, said: str) -> None:
    assert problem(body) == f"Invalid value at {said}"


def test_a_wrong_value_in_a_map_is_told_too() -> None:
    schema = {"properties": {"a.b": {"type": 5}}}
    assert "response_schema.properties" in problem({"generationConfig": {"responseSchema": schema}})


def test_one_field_in_both_spellings_is_refused() -> None:
    assert "are one field" in problem({"cachedContent": "a", "cached_content": "b"})


@pytest.mark.parametrize("body", ["[]", "{", '"a"', '{"contents":' + "[" * 5000])
def test_what_is_no_message_is_refused(body: str) -> None:
    with pytest.raises(ApiError):
        read(body.encode(), GenerateFields)


def test_nesting_ends_somewhere() -> None:
    depth = 900
    schema = '{"items":' * depth + "{}" + "}" * depth
    body = f'{{"generationConfig":{{"responseSchema":{schema}}}}}'
    with pytest.raises(ApiError, match="nested too deeply"):
        read(body.encode(), GenerateFields)
