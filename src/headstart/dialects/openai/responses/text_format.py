"""`text.format`: the shape the answer has to have."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from headstart.dialects.body import convert
from headstart.dialects.openai.response_format import ANY_OBJECT
from headstart.dialects.openai.values import invalid_value, kind_of

KINDS = ("text", "json_object", "json_schema")
PATH = "text.format"


class Plain(Struct, forbid_unknown_fields=True):
    """No constraint, or any JSON object."""

    type: str


class Schema(Struct, forbid_unknown_fields=True):
    """JSON of one schema; the grammar enforces it whether `strict` or not."""

    type: str
    name: str
    schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None


def read_schema(text_format: Mapping[str, Any] | None) -> str | None:
    """The JSON schema, as JSON text, that the answer has to obey; None leaves it free.

    Raises ApiError 400.
    """
    if text_format is None:
        return None
    kind = kind_of(text_format, PATH)
    if kind == "json_schema":
        return msgspec.json.encode(convert(text_format, Schema, PATH).schema).decode()
    if kind is not None and kind not in KINDS:
        raise invalid_value(kind, KINDS, f"{PATH}.type")
    convert(text_format, Plain, PATH)
    return ANY_OBJECT if kind == "json_object" else None
