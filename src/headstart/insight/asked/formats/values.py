"""Values of a body that may be of any shape. What can't be read is Unreadable, with its place."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.piece import Address


def place(address: Address) -> str:
    """An address for people: `messages[3].content`."""
    said = ""
    for step in address:
        said += f"[{step}]" if isinstance(step, int) else f".{step}" if said else step
    return said or "the body"


def wrong(address: Address, expected: str, value: object) -> Unreadable:
    """It isn't what it has to be."""
    return Unreadable(f"{place(address)}: expected {expected}, got {named(value)}")


def named(value: object) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case _:
            return "a list"


def objects(value: Any, address: Address) -> Iterator[tuple[Address, Mapping[str, Any]]]:
    """The objects of a list, each with its address. None is an empty list. Raises Unreadable."""
    if value is None:
        return
    if not isinstance(value, list):
        raise wrong(address, "a list", value)
    for index, each in enumerate(value):
        yield (*address, index), an_object(each, (*address, index))


def an_object(value: Any, address: Address) -> Mapping[str, Any]:
    """Raises Unreadable for anything else."""
    if not isinstance(value, dict):
        raise wrong(address, "an object", value)
    return value


def text(value: Any) -> str:
    """A text, or none."""
    return value if isinstance(value, str) else ""


def fields(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def without(value: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """An object without these fields."""
    return {name: each for name, each in value.items() if name not in names}


def number(value: Any) -> float | None:
    """A finite number, or none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
