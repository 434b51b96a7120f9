"""Gemini's schemas as JSON Schema, by the rules of OpenAPI 3.0 that they are a subset of."""

import json
from typing import Any

import pytest
from msgspec import Struct

from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.schema import Schema, to_json_schema
from headstart.dialects.gemini.wire import read


class Holder(Struct):
    schema: Schema


def converted(schema: Any) -> dict[str, Any]:
    body = json.dumps({"schema": schema}).encode()
    return to_json_schema(read(body, Holder).schema, "schema")


def test_types_lose_their_case_and_nesting_stays() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "city": {"type": "STRING", "description": "Where", "maxLength": "9"},
            "days": {"type": "array", "items": {"type": "INTEGER", "format": "int32"}},
        },
        "required": ["city"],
    }
    assert converted(schema) == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where", "maxLength": 9},
            "days": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["city"],
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "STRING", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "NUMBER"}], "nullable": True},
            {"anyOf": [{"type": "number"}, {"type": "null"}]},
        ),
        ({"type": "STRING", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "STRING", "format": "enum", "example": "a"}, {"type": "string"}),
        (
            {"type": "OBJECT", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
    ],
)
def test_what_openapi_says_otherwise_is_translated(schema: Any, expected: Any) -> None:
    assert converted(schema) == expected


def test_properties_come_in_the_order_that_is_asked_for() -> None:
    names = {"a": {}, "b": {}, "c": {}}
    schema = {"properties": names, "propertyOrdering": ["c", "x", "a", "c"]}
    assert list(converted(schema)["properties"]) == ["c", "a", "b"]


def test_an_unknown_type_is_refused_with_its_path() -> None:
    with pytest.raises(ApiError, match=r"schema\.properties\.a\.type"):
        converted({"properties": {"a": {"type": "DATE"}}})
