"""`response_format`: the shape the answer has to have."""

from typing import Any

import msgspec
from msgspec import Struct

ANY_OBJECT = '{"type":"object"}'


class Text(Struct, tag_field="type", tag="text"):
    """No constraint."""


class JsonObject(Struct, tag_field="type", tag="json_object"):
    """Any JSON object."""


class JsonSchema(Struct):
    """`response_format.json_schema`; the grammar enforces it whether `strict` or not."""

    name: str
    schema: dict[str, Any] | None = None


class JsonSchemaFormat(Struct, tag_field="type", tag="json_schema"):
    """JSON of one schema."""

    json_schema: JsonSchema


ResponseFormat = Text | JsonObject | JsonSchemaFormat


def to_schema(response_format: ResponseFormat | None) -> str | None:
    """The JSON schema, as JSON text, that the answer has to obey; None leaves it free."""
    match response_format:
        case JsonObject():
            return ANY_OBJECT
        case JsonSchemaFormat(JsonSchema(schema=schema)):
            return ANY_OBJECT if schema is None else msgspec.json.encode(schema).decode()
        case _:
            return None
