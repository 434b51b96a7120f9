"""The small language that Python and JavaScript are lowered to: what values flow where.

It keeps what carries values (names, attributes, calls, text, containers) and drops what doesn't
(comparisons, types, control flow but for its alternatives). Nodes compare by identity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class At(NamedTuple):
    """A place in the module: line and column in code points, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """Anything that has a value."""

    at: At


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A literal; None also for those of no interest."""

    value: str | int | float | bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expr):
    """A variable."""

    id: str


@dataclass(frozen=True, slots=True, eq=False)
class Attr(Expr):
    """`of.name`."""

    of: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Index(Expr):
    """`of[key]`; a slice has no key."""

    of: Expr
    key: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Expr):
    """`*of` or `...of`, within a list or a call's arguments."""

    of: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    """A call; `named` has an empty name for `**of`."""

    callee: Expr
    args: tuple[Expr, ...] = ()
    named: tuple[tuple[str, Expr], ...] = ()
    new: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Joined(Expr):
    """Text made of parts in order: f-strings, template literals."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """`left op right` of what makes new values; comparisons are `Opaque`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Items(Expr):
    """A list or a set, as it is written."""

    kind: Literal["list", "set"]
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entries(Expr):
    """A dict or an object literal; without a key the value is spread."""

    entries: tuple[tuple[Expr | None, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Each(Expr):
    """A comprehension."""

    kind: Literal["list", "set", "dict"]
    loops: tuple[tuple[Expr, Expr], ...]
    element: Expr
    key: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Either(Expr):
    """One of these: conditional expressions, `or`, `??`."""

    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Opaque(Expr):
    """Its parts run, but its value tells too little of theirs: comparisons, `not`, `typeof`."""

    parts: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bind(Expr):
    """`(target := value)`, and assignments that are expressions."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Param:
    """Of a function; `target` is a pattern where the parameter has no name."""

    name: str
    default: Expr | None = None
    kind: Literal["plain", "rest", "named_rest", "named"] = "plain"
    is_set: bool = False
    annotation: Expr | None = None
    """The name of its type, where it has one."""
    target: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Function(Expr):
    """A function, method, lambda or arrow."""

    name: str
    params: tuple[Param, ...]
    body: tuple["Stmt", ...]
    decorators: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Stmt:
    """Anything that runs."""

    at: At


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Stmt):
    """`target = value`."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Grow(Stmt):
    """`target op= value`."""

    target: Expr
    op: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Run(Stmt):
    """An expression for its effects."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Return(Stmt):
    """`return`, and `yield` where `many`."""

    value: Expr
    many: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Branch(Stmt):
    """One of these bodies runs."""

    bodies: tuple[tuple[Stmt, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Stmt):
    """The body runs any number of times, over elements where `over` is given."""

    body: tuple[Stmt, ...]
    target: Expr | None = None
    over: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Class(Stmt):
    """A class; its body runs once. `prints` where its instances have a text of their own."""

    name: str
    bases: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    prints: bool


@dataclass(frozen=True, slots=True, eq=False)
class Import(Stmt):
    """`name` is bound to `member` of `module`, or to the module where `member` is None."""

    name: str
    module: str
    member: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Outer(Stmt):
    """These names are not local: Python's `global` and `nonlocal`."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One file."""

    path: str
    name: str
    """By which others import it: dotted, or a path without its ending."""
    language: str
    lines: tuple[str, ...]
    body: tuple[Stmt, ...]
    exports: Mapping[str, str] = field(default_factory=dict)
    """Exported names that differ from the module's own."""
