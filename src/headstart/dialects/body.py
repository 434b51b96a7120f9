"""From a body's bytes to a typed struct, with the path of whatever is wrong."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from headstart.dialects.errors import ApiError, invalid

T = TypeVar("T")

_AT = re.compile(r" - at `(?:key in )?\$\.?(.*?)`$")


def decode_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises ApiError 400 for anything else."""
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise invalid(f"The request body is not valid JSON: {error}.") from None
    except RecursionError:
        raise invalid("The request body is nested too deeply.") from None
    if not isinstance(value, dict):
        raise invalid("The request body has to be a JSON object.")
    return value


def convert(fields: Mapping[str, Any], into: type[T], where: str = "") -> T:
    """Check `fields` against a struct. Raises ApiError 400 with the path, which `where` leads."""
    try:
        return msgspec.convert(fields, into)
    except msgspec.ValidationError as error:
        raise _explain(str(error), where) from None


def _explain(text: str, where: str) -> ApiError:
    found = _AT.search(text)
    path = ".".join(part for part in (where, found[1] if found else "") if part) or None
    problem = text[: found.start()] if found else text
    unknown = re.fullmatch(r"Object contains unknown field `(.+)`", problem)
    if unknown:
        return unknown_parameter(f"{path}.{unknown[1]}" if path else unknown[1])
    missing = re.fullmatch(r"Object missing required field `(.+)`", problem)
    if missing:
        field = f"{path}.{missing[1]}" if path else missing[1]
        message = f"Missing required parameter: '{field}'."
        return invalid(message, field, "missing_required_parameter")
    message = f"Invalid value for '{path}': {problem}." if path else f"{problem}."
    return invalid(message, path, "invalid_value")


def unknown_parameter(path: str) -> ApiError:
    """A field that nobody knows, in OpenAI's words."""
    return invalid(f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def refuse(fields: Mapping[str, Any], unsupported: Mapping[str, str]) -> None:
    """Turn away requests whose meaning would change if a field were ignored.

    `unsupported` maps a field to the way out. Null, false, zero and empty ask for nothing and pass.
    """
    for name, way_out in unsupported.items():
        if fields.get(name):
            message = f"Unsupported parameter: '{name}'. {way_out}"
            raise invalid(message, name, "unsupported_parameter")
