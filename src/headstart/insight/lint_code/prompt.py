"""Where in a prompt a value may differ without harm: only behind all that stays.

A volatile value in the last user turn is healthy, and so is a system message right before it, or
a block behind the last marked one. Everything earlier breaks the prefix for what follows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headstart.insight.lint_code.taint import NONE, Taints
from headstart.insight.lint_code.values import (
    Array,
    Item,
    Record,
    Text,
    Value,
    constant,
    text,
)

STABLE_AFTER = 100
"""Characters written in the source behind a value, from which on a prompt that begins with the
value is worth turning round."""

_SYSTEM = {"system", "developer"}
_LATE = {*_SYSTEM, "user", "human", "tool", "function"}


@dataclass(frozen=True, slots=True)
class Early:
    """Taints that stand before what stays."""

    part: str
    """Of the prompt, as the caller names it."""
    taints: Taints


def in_system(part: str, value: Value, *, later_marks: bool) -> Iterator[Early]:
    """Of a system prompt or tools: anywhere, but for blocks behind the last marked one while
    nothing later is marked."""
    if isinstance(value.shape, Array) and not later_marks:
        marked = [n for n, item in enumerate(value.shape.items) if marks(item.value)]
        if marked:
            kept = value.shape.items[: marked[-1] + 1]
            yield Early(part, NONE.union(*(item.value.taints for item in kept)))
            return
    yield Early(part, value.taints)


def in_messages(part: str, value: Value, *, alone: bool) -> Iterator[Early]:
    """Of messages in order; `alone` where no system prompt or tools stand before them."""
    if not isinstance(value.shape, Array) or not value.shape.items:
        if isinstance(value.shape, Text) and alone:
            yield Early(part, in_text(value))
        return
    items = value.shape.items
    own = value.taints - NONE.union(*(item.value.taints for item in items))
    yield Early(part, own)
    if all(role(item.value) in {"user", "human"} and not item.many for item in items):
        if alone:
            yield Early(part, in_text(_content(items)))
        return
    late = _late(items)
    for number, item in enumerate(items[: len(items) - late]):
        if number == 0 and alone and role(item.value) not in _SYSTEM and len(items) == 1:
            return
        yield Early(f"{part}[{number}]", item.value.taints)


def in_text(value: Value) -> Taints:
    """Those that have enough literal text behind them, and nothing before them that may be
    another one in each request anyway."""
    if not isinstance(value.shape, Text):
        return NONE
    found: Taints = NONE
    pieces = value.shape.pieces
    unknown = (n for n, each in enumerate(pieces) if isinstance(each, Value) and not each.taints)
    first = next(unknown, len(pieces))
    behind = sum(len(each.strip()) for each in pieces[first:] if isinstance(each, str))
    for piece in reversed(pieces[:first]):
        if isinstance(piece, str):
            behind += len(piece.strip())
        elif behind >= STABLE_AFTER:
            found |= piece.taints
    return found


def marks(value: Value) -> bool:
    """Whether a `cache_control` stands anywhere in it."""
    match value.shape:
        case Record(fields):
            return any(name == "cache_control" or marks(inside) for name, inside in fields)
        case Array(items):
            return any(marks(item.value) for item in items)
        case _:
            return False


def role(value: Value) -> str | None:
    """Of a message: a dict or object with a role, or LangChain's pair."""
    match value.shape:
        case Record() as fields:
            found = fields.get("role")
            return None if found is None else constant(found)
        case Array((Item(first, False), Item(_, False))):
            return constant(first)
        case _:
            return None


def content(value: Value) -> Value | None:
    """Of a message."""
    match value.shape:
        case Record() as fields:
            return fields.get("content") or fields.get("parts") or fields.get("text")
        case Array((Item(first, False), Item(second, False))) if constant(first) is not None:
            return second
        case _:
            return None


def _late(items: tuple[Item, ...]) -> int:
    """How many at the end are the current turn, with what is said right before it."""
    late = 0
    for number in range(len(items) - 1, 0, -1):
        item = items[number]
        spoken = role(item.value)
        prefill = spoken in {"assistant", "ai", "model"} and number == len(items) - 1
        if item.many or not (spoken in _LATE or spoken is None or prefill):
            break
        late += 1
    return late


def _content(items: Iterable[Item]) -> Value:
    return text(piece for item in items for piece in _texts(content(item.value)))


def _texts(value: Value | None) -> Iterator[Value]:
    match value:
        case None:
            return
        case Value(shape=Array(items)):
            for item in items:
                yield from _texts(content(item.value) or item.value)
        case _:
            yield value
