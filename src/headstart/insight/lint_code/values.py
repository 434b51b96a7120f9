"""What is known about a value: its taints, and as much of its shape as prompts need."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.taint import NONE, Taint, Taints

MAX_ITEMS = 16
"""Of a list, told apart; prompts that are written in source are shorter."""
MAX_PIECES = 64


@dataclass(frozen=True, slots=True)
class Text:
    """Text in order: literal pieces, and values that stand between them."""

    pieces: tuple["str | Value", ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One element, or `many` (any number) that are like it."""

    value: "Value"
    many: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """A list whose elements are known in order."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A dict, object or message with known keys; `rest` stands for all others."""

    fields: tuple[tuple[str, "Value"], ...]
    rest: "Value | None" = None

    def get(self, key: str) -> "Value | None":
        """The last one wins, as in the languages."""
        return next((value for name, value in reversed(self.fields) if name == key), self.rest)

    @property
    def any(self) -> "Value":
        """One of its values."""
        values = [value for _, value in self.fields] + ([self.rest] if self.rest else [])
        return join(values) if values else CLEAN


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something from outside the tree, by its qualified name; `*` begins one that isn't known."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The variables of a module, function or class; looked up outwards."""

    module: ir.Module
    names: dict[str, "Value"] = field(default_factory=dict)
    outer: "Scope | None" = None
    depths: dict[str, int] = field(default_factory=dict)
    """At which depth of loops a name was last bound."""
    shared: set[str] = field(default_factory=set)
    """Names that are bound further out."""

    def find(self, name: str) -> "Scope | None":
        """Where a name is bound."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


@dataclass(frozen=True, slots=True)
class Closure:
    """A function of the tree, perhaps bound to an object."""

    function: ir.Function
    scope: Scope
    bound: "Value | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Klass:
    """A class of the tree. What any method puts on any object of it is kept in one place."""

    node: ir.Class
    scope: Scope
    bases: tuple["Klass", ...]
    attributes: dict[str, "Value"] = field(default_factory=dict)

    def get(self, name: str) -> "Value | None":
        """Its own, or of its bases from the left."""
        if name in self.scope.names:
            return self.scope.names[name]
        return next((got for base in self.bases if (got := base.get(name)) is not None), None)

    def kept(self, name: str) -> "Value | None":
        """What methods have put on objects."""
        if name in self.attributes:
            return self.attributes[name]
        return next((got for base in self.bases if (got := base.kept(name)) is not None), None)

    @property
    def fields(self) -> dict[str, "Value"]:
        """All that has a name in its body or in those of its bases."""
        inherited = {name: got for base in self.bases[::-1] for name, got in base.fields.items()}
        return inherited | self.scope.names

    @property
    def prints(self) -> bool:
        """Whether its objects have a text that is not their address."""
        return self.node.prints


@dataclass(frozen=True, slots=True)
class Object:
    """An instance of a class of the tree."""

    klass: Klass


@dataclass(frozen=True, slots=True)
class Factory:
    """What a field of a class is made by, for each object anew."""

    call: ir.Call
    scope: Scope


@dataclass(frozen=True, slots=True)
class Space:
    """A module of the tree."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt template that is filled later: names in its prefix, with the text around them."""

    early: tuple[str, ...]


Shape: TypeAlias = (
    Text | Array | Record | Foreign | Closure | Klass | Object | Factory | Space | Template
)


class Value:
    """`taints` are of the whole and of every part. Never changed once it is made.

    No dataclass: most values are made and dropped, so making one must be cheap; the few that are
    compared are deep, so their hash is kept."""

    __slots__ = ("_hash", "shape", "taints")

    def __init__(self, taints: Taints = NONE, shape: Shape | None = None) -> None:
        self.taints = taints
        self.shape = shape
        self._hash: int | None = None

    def __repr__(self) -> str:
        return f"Value({self.taints!r}, {self.shape!r})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Value) or hash(self) != hash(other):
            return False
        return self.taints == other.taints and self.shape == other.shape

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.taints, self.shape))
        return self._hash

    def tainted(self, change: Callable[[Taint], Taint]) -> "Value":
        """The same with all taints changed, also those of the parts."""
        if not self.taints:
            return self
        return Value(frozenset(map(change, self.taints)), _deep(self.shape, change))

    def only(self, keep: Callable[[Iterable[Taint]], Taints]) -> "Value":
        """The same with the taints that `keep` leaves, in the parts as well."""
        if not self.taints:
            return self
        return Value(keep(self.taints), _map(self.shape, lambda part: part.only(keep)))

    @property
    def plain(self) -> "Value":
        """Without a shape."""
        return Value(self.taints)


CLEAN = Value()


def text(pieces: Iterable["str | Value"]) -> Value:
    """Nested text is laid flat."""
    flat: list[str | Value] = []
    for piece in pieces:
        if isinstance(piece, Value) and isinstance(piece.shape, Text):
            flat += piece.shape.pieces
        else:
            flat.append(piece)
    if len(flat) > MAX_PIECES:
        return _union_of(flat)
    return Value(_union(each for each in flat if isinstance(each, Value)), Text(tuple(flat)))


def array(items: Iterable[Item], taints: Taints = NONE) -> Value:
    """`taints` are of the list's own order."""
    kept = tuple(items)
    if len(kept) > MAX_ITEMS:
        rest = Item(join(item.value for item in kept[MAX_ITEMS - 1 :]), many=True)
        kept = (*kept[: MAX_ITEMS - 1], rest)
    return Value(taints | _union(item.value for item in kept), Array(kept))


def record(fields: Iterable[tuple[str, Value]], rest: Value | None = None) -> Value:
    """`rest` taints all."""
    kept = tuple(fields)
    values = [value for _, value in kept] + ([rest] if rest is not None else [])
    return Value(_union(values), Record(kept, rest))


def join(values: Iterable[Value]) -> Value:
    """Any one of these."""
    given = list(values)
    first = given[0]
    for value in given:
        if value is not first:
            break
    else:
        return first
    different = list(dict.fromkeys(given))
    if len(different) == 1:
        return different[0]
    shape: Shape | None = None
    shapes = [value.shape for value in different if value.shape is not None]
    if shapes:
        shape = shapes[0]
        for other in shapes[1:]:
            shape = _either(shape, other)
    return Value(_union(different), shape)


def union(values: Iterable[Value]) -> Value:
    """The taints of all, and no shape."""
    return Value(_union(values))


def elements(value: Value) -> Value:
    """One element of it. What only changes the order is on the whole, not on the element."""
    marked = value.only(lambda taints: frozenset(_element(taint) for taint in taints))
    match value.shape:
        case Array(items):
            own = value.taints - _union(item.value for item in items)
            inside = join(item.value for item in items) if items else CLEAN
            return Value(inside.taints | frozenset(map(_element, own)), inside.shape)
        case _:
            return marked.plain


def whole(value: Value) -> Value:
    """What was one element has become part of something that is made of all."""
    return value.only(lambda taints: frozenset(_whole(taint) for taint in taints))


def constant(value: Value) -> str | None:
    """The text, where all of it is written in the source."""
    match value.shape:
        case Text(pieces) if all(isinstance(piece, str) for piece in pieces):
            return "".join(piece for piece in pieces if isinstance(piece, str))
        case _:
            return None


def literal(value: Value) -> str:
    """As much of the text as is written in the source."""
    pieces = value.shape.pieces if isinstance(value.shape, Text) else ()
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _element(taint: Taint) -> Taint:
    if not taint.cause.order or taint.element:
        return taint
    return replace(taint, element=True)


def _whole(taint: Taint) -> Taint:
    if not taint.element:
        return taint
    return replace(taint, element=False)


def _union_of(pieces: Iterable["str | Value"]) -> Value:
    return union(piece for piece in pieces if isinstance(piece, Value))


def _union(values: Iterable[Value]) -> Taints:
    tainted = [value.taints for value in values if value.taints]
    if not tainted:
        return NONE
    return tainted[0] if len(tainted) == 1 else NONE.union(*tainted)


def _deep(shape: Shape | None, change: Callable[[Taint], Taint]) -> Shape | None:
    return _map(shape, lambda part: part.tainted(change))


def _map(shape: Shape | None, change: Callable[[Value], Value]) -> Shape | None:
    match shape:
        case Text(pieces):
            return Text(tuple(p if isinstance(p, str) else change(p) for p in pieces))
        case Array(items):
            return Array(tuple(Item(change(item.value), item.many) for item in items))
        case Record(fields, rest):
            changed = tuple((name, change(value)) for name, value in fields)
            return Record(changed, None if rest is None else change(rest))
        case _:
            return shape


def _either(one: Shape | None, other: Shape | None) -> Shape | None:
    match one, other:
        case Array(left), Array(right):
            short, long = sorted((left, right), key=len)
            if long[: len(short)] == short:
                return Array(long)
            if [item.many for item in left] == [item.many for item in right]:
                pairs = zip(left, right, strict=True)
                return Array(tuple(Item(join((a.value, b.value)), a.many) for a, b in pairs))
            return Array(tuple(Item(item.value, True) for item in dict.fromkeys((*left, *right))))
        case Record(), Record():
            keys = dict.fromkeys(name for name, _ in (*one.fields, *other.fields))
            rests = [rest for rest in (one.rest, other.rest) if rest is not None]
            both = (
                (key, join(got for got in (one.get(key), other.get(key)) if got is not None))
                for key in keys
            )
            return Record(tuple(both), join(rests) if rests else None)
        case Foreign(), _:
            return other
        case _, Foreign():
            return one
        case _:
            return one if one == other else None
