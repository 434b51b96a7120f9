"""From a body to typed structs; what is wrong with it is told as Anthropic tells it.

Its errors begin with a path such as `messages.0.content.1.text.cache_control`. Where a value may be
of several types, its `type` is a step of the path.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from headstart.dialects.errors import ApiError, invalid

T = TypeVar("T")

_AT = re.compile(r" - at `(?:key in )?\$\.?(.*?)`$")
_STEP = re.compile(r"[^.\[\]]+")
_TAGGED = frozenset(
    {"content", "tools", "thinking", "tool_choice", "cache_control", "source", "thread"}
)
"""Fields whose values are of several types, by name or as a list of them."""
_NAMES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "array": "list",
    "object": "dictionary",
}
_LIMITS = {">=": "greater than or equal to", "<=": "less than or equal to"}


class Strict(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Fields that Anthropic does not know are errors.

    Nothing in JSON leads back to itself, so the collector passes over it.
    """


def check(fields: Mapping[str, Any], into: type[T]) -> T:
    """Check `fields` against a struct. Raises ApiError 400."""
    try:
        return msgspec.convert(fields, into)
    except msgspec.ValidationError as error:
        raise _explain(str(error), fields) from None


def wrong(path: str, problem: str) -> ApiError:
    """What is wrong, and where."""
    return invalid(f"{path}: {problem}" if path else problem, path or None)


def one_of(value: str | None, options: Sequence[str], path: str) -> None:
    """Raises ApiError 400 for another value; None is none."""
    if value is not None and value not in options:
        *first, last = (f"'{option}'" for option in options)
        raise wrong(path, f"Input should be {', '.join(first)} or {last}")


def _explain(text: str, fields: Mapping[str, Any]) -> ApiError:
    found = _AT.search(text)
    steps = _STEP.findall(found[1]) if found else []
    problem = text[: found.start()] if found else text
    if tag := re.fullmatch(r"Invalid value (.*)", problem):
        *steps, key = steps
        said = f"Input tag {tag[1]} found using '{key}' does not match any of the expected tags"
        return wrong(_path(steps, fields), said)
    if missing := re.fullmatch(r"Object missing required field `(.+)`", problem):
        return wrong(_path([*steps, missing[1]], fields), "Field required")
    if unknown := re.fullmatch(r"Object contains unknown field `(.+)`", problem):
        return wrong(_path([*steps, unknown[1]], fields), "Extra inputs are not permitted")
    return wrong(_path(steps, fields), _should(problem))


def _should(problem: str) -> str:
    """What the value should be, from msgspec's words."""
    if size := re.fullmatch(r"Expected `(?:int|float)` (>=|<=) (.+)", problem):
        return f"Input should be {_LIMITS[size[1]]} {float(size[2]):g}"
    if kind := re.match(r"Expected `(\w+)", problem):
        return f"Input should be a valid {_NAMES.get(kind[1], kind[1])}"
    return problem


def _path(steps: Sequence[str], fields: Mapping[str, Any]) -> str:
    """The steps joined, with the types of the values on the way."""
    words = []
    value: Any = fields
    name = ""
    for number, step in enumerate(steps, start=1):
        words.append(step)
        if isinstance(value, list):
            value = value[int(step)] if step.isdigit() and int(step) < len(value) else None
        else:
            name = step
            value = value.get(step) if isinstance(value, dict) else None
        kind = value.get("type") if isinstance(value, dict) else None
        if name in _TAGGED and number < len(steps) and isinstance(value, dict):
            words += [kind] if isinstance(kind, str) else ["custom"] * (name == "tools")
    return ".".join(words)
