"""Proto-JSON, as Google's APIs read it.

Every field has two spellings, camelCase and snake_case; null is absent; numbers may be strings; a
name that nobody knows is an error (protobuf.dev/programming-guides/json). One value stands for a
list of one: Google's own REST samples send `"contents": {"parts": {"text": …}}`
(google-gemini/generative-ai-python, samples/rest/system_instruction.sh). Structs here are named
by the protocol buffers' fields, and so are the paths in errors, as Google spells them there.
"""

import json
import re
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from headstart.dialects.body import decode_object
from headstart.dialects.errors import ApiError, invalid
from headstart.dialects.gemini.errors import BadRequest, Violation

T = TypeVar("T")

PROTO = {"int": "TYPE_INT32", "float": "TYPE_FLOAT", "str": "TYPE_STRING", "bool": "TYPE_BOOL"}
MOST_SHOWN = 200
_AT = re.compile(r" - at `(?:key in )?\$\.?(.*?)`$")
_EXPECTED = re.compile(r"Expected `(\w+)")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")

Place: TypeAlias = "tuple[Place, str | int] | None"
"""Where a value stands, step by step from the end: few places are ever spelled."""


def read(body: bytes, into: type[T], where: str = "") -> T:
    """The message that `body` holds; `where` leads the paths in errors. Raises ApiError 400."""
    raw = decode_object(body)
    strangers: list[Violation] = []
    try:
        named = _fields(raw, into, (None, where) if where else None, strangers)
        if strangers:
            raise BadRequest.of(strangers)
        return msgspec.convert(named, into, strict=False)
    except msgspec.ValidationError as error:
        raise _explain(str(error), named, where) from None
    except RecursionError:
        raise invalid("The request body is nested too deeply.") from None


def _named(value: Any, kind: inspect.Type, place: Place, strangers: list[Violation]) -> Any:
    """`value` with fields by their one name, without nulls, and a list where a list belongs."""
    if isinstance(kind, inspect.ListType):
        item = kind.item_type
        if not isinstance(value, list):
            return [_named(value, item, place, strangers)]
        return [_named(v, item, (place, i), strangers) for i, v in enumerate(value)]
    if isinstance(value, dict) and isinstance(kind, inspect.StructType):
        return _fields(value, kind.cls, place, strangers)
    if isinstance(value, dict) and isinstance(kind, inspect.DictType):
        item = kind.value_type
        return {
            key: _named(each, item, ((place, index), "value"), strangers)
            for index, (key, each) in enumerate(value.items())
        }
    return value


def _fields(
    value: dict[str, Any], cls: type, place: Place, strangers: list[Violation]
) -> dict[str, Any]:
    known = _spellings(cls)
    named: dict[str, Any] = {}
    for key, each in value.items():
        if key not in known:
            path = _spelled(place)
            at = f" at '{path}'" if path else ""
            text = f'Invalid JSON payload received. Unknown name "{key}"{at}: Cannot find field.'
            strangers.append(Violation(text, path))
            continue
        if each is None:
            continue
        name, inner = known[key]
        if name in named:
            other = camel(name) if key == name else name
            text = f"Invalid value at '{_spelled(place)}': '{other}' and '{key}' are one field."
            raise BadRequest.of([Violation(text, _spelled(place))])
        named[name] = each if inner is None else _named(each, inner, (place, name), strangers)
    return named


def _spelled(place: Place) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")


@lru_cache(maxsize=64)
def _spellings(cls: type) -> dict[str, tuple[str, inspect.Type | None]]:
    """Both spellings of every field: its name, and what it holds if that may have fields."""
    kind = inspect.type_info(cls)
    assert isinstance(kind, inspect.StructType)
    found = {}
    for field in kind.fields:
        holds = field.type
        if isinstance(holds, inspect.UnionType):
            holds = next(each for each in holds.types if not isinstance(each, inspect.NoneType))
        nests = isinstance(holds, inspect.StructType | inspect.ListType | inspect.DictType)
        found[field.name] = found[camel(field.name)] = field.name, holds if nests else None
    return found


def camel(name: str) -> str:
    """`max_output_tokens` as `maxOutputTokens`."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _explain(text: str, named: Any, where: str) -> ApiError:
    found = _AT.search(text)
    inner = found[1] if found else ""
    path = ".".join(part for part in (where, inner) if part)
    problem = (text[: found.start()] if found else text).replace(" | null`", "`")
    expected = _EXPECTED.match(problem)
    proto = PROTO.get(expected[1]) if expected and " got " in problem else None
    said = _at(named, inner)
    if proto is None:
        shown = f"Invalid value at '{path}', {said}: {problem}."
    else:
        shown = f"Invalid value at '{path}' ({proto}), {said}"
    return BadRequest.of([Violation(shown, path)])


def _at(value: Any, path: str) -> str:
    """The beginning of what stands at `path`, as JSON; in a map, of the map."""
    for name, index in _STEP.findall(path.partition("[...]")[0]):
        value = value[name] if name else value[int(index)]
    return json.dumps(value)[:MOST_SHOWN]
