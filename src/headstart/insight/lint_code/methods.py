"""What methods of text, lists and dicts do, in Python and JavaScript alike."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import TypeAlias

from headstart.insight.lint_code.taint import ordered
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Item,
    Record,
    Text,
    Value,
    array,
    constant,
    elements,
    join,
    record,
    text,
    union,
    whole,
)

Caller: TypeAlias = Callable[[Value, Sequence[Value]], Value]
"""Calls a function of the tree: of a callback's result more is known than its taints."""

_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0-9.*]*[a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Given:
    """A method's arguments."""

    receiver: Value
    args: Sequence[Value]
    named: Mapping[str, Value]
    call: Caller

    def arg(self, number: int) -> Value:
        """CLEAN where there is none."""
        return self.args[number] if number < len(self.args) else CLEAN


@dataclass(frozen=True, slots=True)
class Outcome:
    """What it returns, and what it leaves of its receiver: None if it leaves it as it was."""

    result: Value
    receiver: Value | None = None


Method: TypeAlias = Callable[[Given], Outcome]


def method(receiver: Value, name: str) -> Method | None:
    """None: nothing is known about it."""
    match receiver.shape:
        case Text():
            return _OF_TEXT.get(name) or _OF_ANY.get(name)
        case Array():
            return _OF_ARRAY.get(name) or _OF_ANY.get(name)
        case Record():
            return _OF_RECORD.get(name)
        case _:
            return _OF_ANY.get(name)


def percent(template: Value, right: Value) -> Value:
    """`template % right`."""
    literal = constant(template)
    if literal is None:
        return union((template, right))
    values = [item.value for item in right.shape.items] if isinstance(right.shape, Array) else []
    pieces: list[str | Value] = []
    last = 0
    for number, found in enumerate(_PERCENT.finditer(literal)):
        pieces.append(literal[last : found.start()])
        last = found.end()
        if found[1] and isinstance(right.shape, Record):
            pieces.append(right.shape.get(found[1]) or CLEAN)
        else:
            pieces.append(values[number] if number < len(values) else right)
    return text([*pieces, literal[last:]])


def _same(given: Given) -> Outcome:
    return Outcome(given.receiver)


def _all(given: Given) -> Outcome:
    return Outcome(union((given.receiver, *given.args, *given.named.values())))


def _format(given: Given) -> Outcome:
    literal = constant(given.receiver)
    if literal is None:
        return _all(given)
    pieces: list[str | Value] = []
    automatic = iter(given.args)
    try:
        parsed = list(Formatter().parse(literal))
    except ValueError:
        return _all(given)
    rest = given.named.get("", CLEAN)
    for before, key, *_ in parsed:
        pieces.append(before)
        if key is None:
            continue
        name = re.split(r"[.\[]", key, maxsplit=1)[0]
        if not name:
            pieces.append(next(automatic, CLEAN))
        elif name.isdigit():
            pieces.append(given.arg(int(name)))
        else:
            inside = rest.shape.get(name) if isinstance(rest.shape, Record) else rest
            pieces.append(given.named.get(name, inside or CLEAN))
    return Outcome(text(pieces))


def _format_map(given: Given) -> Outcome:
    return _format(Given(given.receiver, (), {"": given.arg(0)}, given.call))


def _replace(given: Given) -> Outcome:
    old = constant(given.arg(0))
    if not isinstance(given.receiver.shape, Text) or not old:
        return _all(given)
    pieces: list[str | Value] = []
    for piece in given.receiver.shape.pieces:
        if isinstance(piece, str):
            parts = piece.split(old)
            for part in parts[:-1]:
                pieces += [part, given.arg(1)]
            pieces.append(parts[-1])
        else:
            pieces.append(piece)
    return Outcome(text(pieces))


def joined(separator: Value, parts: Value) -> Value:
    """The elements with a separator between them."""
    if isinstance(parts.shape, Array) and not any(item.many for item in parts.shape.items):
        pieces: list[str | Value] = []
        for number, item in enumerate(parts.shape.items):
            pieces += ([separator] if number else []) + [item.value]
        made = text(pieces)
        return Value(made.taints | parts.taints, made.shape)
    return text([whole(parts).plain, separator.plain])


def _join(given: Given) -> Outcome:
    """Python's is of the separator, JavaScript's of the list."""
    if isinstance(given.receiver.shape, Text):
        return Outcome(joined(given.receiver, given.arg(0)))
    return Outcome(joined(given.arg(0), given.receiver))


def _concat(given: Given) -> Outcome:
    if isinstance(given.receiver.shape, Text):
        return Outcome(text((given.receiver, *given.args)))
    return Outcome(chained((given.receiver, *given.args)))


def chained(lists: Sequence[Value]) -> Value:
    """Lists one after the other; what is no list is one element in JavaScript, and many where
    nothing is known of it."""
    items: list[Item] = []
    own = union(lists).taints
    for each in lists:
        match each.shape:
            case Array(inside):
                items += inside
            case Record() | Text():
                items.append(Item(each))
            case _:
                items.append(Item(each, many=True))
    return array(items, own)


def _append(given: Given) -> Outcome:
    new = [Item(value) for value in given.args]
    return Outcome(CLEAN, _added(given.receiver, new))


def _add(given: Given) -> Outcome:
    """To a set, which has an order of its own."""
    return Outcome(CLEAN, _added(given.receiver, [Item(arg.only(ordered)) for arg in given.args]))


def _extend(given: Given) -> Outcome:
    return Outcome(CLEAN, chained((_listed(given.receiver), given.arg(0))))


def _insert(given: Given) -> Outcome:
    items = list(_items(given.receiver))
    items.insert(0, Item(given.arg(1)))
    return Outcome(CLEAN, array(items, given.receiver.taints))


def _unshift(given: Given) -> Outcome:
    new = [Item(value) for value in given.args]
    return Outcome(CLEAN, array([*new, *_items(given.receiver)], given.receiver.taints))


def _added(receiver: Value, new: Sequence[Item]) -> Value:
    return array([*_items(receiver), *new], receiver.taints)


def _items(value: Value) -> tuple[Item, ...]:
    return value.shape.items if isinstance(value.shape, Array) else (Item(value, many=True),)


def _listed(value: Value) -> Value:
    return array(_items(value), value.taints)


def _sort(given: Given) -> Outcome:
    sorted_ = sort(given.receiver)
    return Outcome(sorted_, sorted_)


def sort(value: Value) -> Value:
    """What differed only in order is the same now."""
    kept = value.only(ordered)
    if isinstance(kept.shape, Array):
        many = [Item(elements(value).only(ordered), many=True)] if kept.shape.items else []
        return array(many, kept.taints)
    return kept


def _mapped(given: Given) -> Outcome:
    made = given.call(given.arg(0), [elements(given.receiver)])
    return Outcome(collected(given.receiver, made))


def collected(over: Value, element: Value) -> Value:
    """A list with an element made of each of `over`'s."""
    own = whole(elements(over)).taints & whole(element).taints
    return array([Item(whole(element), many=True)], own)


def _copied(given: Given) -> Outcome:
    return Outcome(given.receiver if given.receiver.shape else given.receiver.plain)


def _one(given: Given) -> Outcome:
    return Outcome(elements(given.receiver), given.receiver)


def _nothing(_: Given) -> Outcome:
    return Outcome(CLEAN)


def _get(given: Given) -> Outcome:
    shape, key, default = given.receiver.shape, constant(given.arg(0)), given.arg(1)
    if not isinstance(shape, Record):
        return Outcome(union((given.receiver, default)))
    found = shape.any.only(ordered) if key is None else shape.get(key)
    return Outcome(default if found is None else join((found, default)))


def _values(given: Given) -> Outcome:
    if isinstance(given.receiver.shape, Record):
        fields = given.receiver.shape.fields
        items = [Item(value) for _, value in fields]
        rest = given.receiver.shape.rest
        return Outcome(array(items + ([Item(rest, many=True)] if rest else [])))
    return Outcome(given.receiver.plain)


def _keys(given: Given) -> Outcome:
    rest = given.receiver.shape.rest if isinstance(given.receiver.shape, Record) else None
    return Outcome(rest.plain if rest else CLEAN)


def _pairs(given: Given) -> Outcome:
    values = _values(given).result
    items = values.shape.items if isinstance(values.shape, Array) else (Item(values, many=True),)
    pairs = [Item(array([Item(item.value.plain), Item(item.value)]), item.many) for item in items]
    return Outcome(array(pairs))


def _update(given: Given) -> Outcome:
    return Outcome(CLEAN, merged((given.receiver, *given.args, record(given.named.items()))))


def merged(values: Sequence[Value]) -> Value:
    """Dicts, the later over the earlier."""
    fields: list[tuple[str, Value]] = []
    rests: list[Value] = []
    for value in values:
        if isinstance(value.shape, Record):
            fields += value.shape.fields
            rests += [value.shape.rest] if value.shape.rest else []
        elif value.taints:
            rests.append(value.plain)
    return record(dict(fields).items(), join(rests) if rests else None)


_OF_ANY: Mapping[str, Method] = {
    **dict.fromkeys(("append", "push", "appendleft"), _append),
    "add": _add,
    "extend": _extend,
    "insert": _insert,
    "unshift": _unshift,
    **dict.fromkeys(("sort", "toSorted"), _sort),
    **dict.fromkeys(("map", "flatMap"), _mapped),
    **dict.fromkeys(("count", "index", "indexOf", "includes", "startswith", "endswith"), _nothing),
    **dict.fromkeys(("startsWith", "endsWith", "isdigit", "some", "every", "has"), _nothing),
}
_OF_TEXT: Mapping[str, Method] = {
    "join": _join,
    "format": _format,
    "format_map": _format_map,
    **dict.fromkeys(("replace", "replaceAll"), _replace),
    "concat": _concat,
    **dict.fromkeys(
        ("strip", "lstrip", "rstrip", "trim", "trimStart", "trimEnd", "encode", "toString"), _same
    ),
}
_OF_ARRAY: Mapping[str, Method] = {
    "join": _join,
    "concat": _concat,
    **dict.fromkeys(("filter", "slice", "copy", "reverse", "toReversed", "flat"), _copied),
    **dict.fromkeys(("pop", "shift", "at", "find"), _one),
}
_OF_RECORD: Mapping[str, Method] = {
    "get": _get,
    "values": _values,
    "keys": _keys,
    "items": _pairs,
    "copy": _copied,
    "update": _update,
}
