"""Values of which there is a known set, refused in OpenAI's words."""

from collections.abc import Collection, Mapping
from typing import Any

from headstart.dialects.errors import ApiError, invalid


def choose(value: str | None, allowed: Collection[str], path: str) -> None:
    """Raises ApiError 400 for a value, given at all, that isn't one of these."""
    if value is not None and value not in allowed:
        raise invalid_value(value, allowed, path)


def invalid_value(value: str, allowed: Collection[str], path: str) -> ApiError:
    """`value` at `path` isn't one of these."""
    message = f"Invalid value: '{value}'. Supported values are: {listing(allowed)}."
    return invalid(message, path, "invalid_value")


def unreadable(kind: str, path: str) -> ApiError:
    """Media at `path`, which this model can't read.

    The text is OpenAI's for its own text models (vllm-project/vllm#11629 has it whole).
    """
    message = f"Invalid content type. {kind} is only supported by certain models."
    return invalid(message, f"{path}.type")


def kind_of(fields: Mapping[str, Any], path: str) -> str | None:
    """The `type` of what is at `path`, if it says one. Raises ApiError 400."""
    kind = fields.get("type")
    if kind is None or isinstance(kind, str):
        return kind
    field = f"{path}.type"
    raise invalid(f"Invalid type for '{field}': expected a string.", field, "invalid_type")


def listing(names: Collection[str]) -> str:
    """`'a', 'b', and 'c'`."""
    *before, last = (f"'{name}'" for name in names)
    if not before:
        return last
    return f"{before[0]} and {last}" if len(before) == 1 else f"{', '.join(before)}, and {last}"
