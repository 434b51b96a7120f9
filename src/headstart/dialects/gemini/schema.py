"""`Schema`: the subset of OpenAPI that Gemini describes parameters and answers with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from headstart.dialects.gemini.errors import BadRequest, Violation
from headstart.dialects.gemini.wire import camel

KINDS = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
UNSPECIFIED = "type_unspecified"
FORMATS = frozenset({"date-time", "date", "time"})
"""Those that JSON Schema has too; `int32`, `enum` and others say nothing that `type` doesn't."""


class Schema(Struct, kw_only=True):
    """As it comes over the wire."""

    type: str | None = None
    title: str | None = None
    description: str | None = None
    format: str | None = None
    nullable: bool | None = None
    enum: list[str] | None = None
    properties: dict[str, Schema] | None = None
    property_ordering: list[str] | None = None
    required: list[str] | None = None
    additional_properties: Any = None
    items: Schema | None = None
    any_of: list[Schema] | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    pattern: str | None = None
    default: Any = None
    example: Any = None


def to_json_schema(schema: Schema, path: str) -> dict[str, Any]:
    """The same as JSON Schema. Raises ApiError 400 for a type that there isn't."""
    said: dict[str, Any] = {}
    for name, value in msgspec.structs.asdict(schema).items():
        match name, value:
            case _, None:
                continue
            case (("nullable" | "property_ordering" | "example"), _):
                continue
            case "type", _:
                kind = _kind(value, path)
                if kind is not None:
                    said["type"] = [kind, "null"] if schema.nullable else kind
            case "format", _:
                if value in FORMATS:
                    said["format"] = value
            case "enum", _:
                said["enum"] = [*value, None] if schema.nullable else value
            case "properties", _:
                said["properties"] = {
                    key: to_json_schema(value[key], f"{path}.properties.{key}")
                    for key in _ordered(value, schema.property_ordering or ())
                }
            case "items", _:
                said["items"] = to_json_schema(value, f"{path}.items")
            case "any_of", _:
                choices = [to_json_schema(v, f"{path}.any_of[{i}]") for i, v in enumerate(value)]
                said["anyOf"] = [*choices, {"type": "null"}] if schema.nullable else choices
            case _:
                said[camel(name)] = value
    return said


def _kind(word: str, path: str) -> str | None:
    """Types are in upper case by the protocol, and in lower case in Google's own examples."""
    kind = word.lower()
    if kind == UNSPECIFIED:
        return None
    if kind not in KINDS:
        where = f"{path}.type"
        raise BadRequest.of([Violation(f"Invalid value at '{where}' (Type), \"{word}\"", where)])
    return kind


def _ordered(names: Iterable[str], ordering: Iterable[str]) -> list[str]:
    known = dict.fromkeys(names)
    first = [name for name in dict.fromkeys(ordering) if name in known]
    return [*first, *(name for name in known if name not in first)]
