"""What a template prints, in order, and which of it differs before something that stays."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import TemplateSyntaxError, nodes

from headstart.insight.findings.finding import Step
from headstart.insight.findings.place import Place
from headstart.insight.lint_code.jinja.names import (
    CALLS,
    DICT_ORDER,
    DICT_VIEWS,
    FILTERS,
    NAMES,
    SORTING,
    STABLE,
)
from headstart.insight.lint_code.jinja.tags import environment
from headstart.insight.lint_code.machine.hits import Hit
from headstart.insight.lint_code.taint import Cause, Taint

STABLE_AFTER = 64
"""Characters: about the tokens of one block of 16."""
MAX_LINE = 100


@dataclass(frozen=True, slots=True)
class Printed:
    """A piece of the output."""

    line: int
    stays: int = 0
    """Characters that are the same each time."""
    cause: Cause | None = None


def judge(path: str, source: str) -> list[Hit]:
    """Raises SyntaxError where it is no Jinja."""
    try:
        tree = environment().parse(source)
    except TemplateSyntaxError as error:
        raise SyntaxError(error.message or "no template", (path, error.lineno, 1, None)) from None
    lines = source.splitlines()
    hits: list[Hit] = []
    behind = 0
    for piece in reversed(list(_Reader().body(tree.body))):
        behind += piece.stays
        if piece.cause is not None and behind >= STABLE_AFTER:
            step = Step(Place(path, piece.line, 1), lines[piece.line - 1].strip()[:MAX_LINE])
            hits.append(Hit(Taint(piece.cause, step), "what stays of the template", step))
    unique = {(hit.taint.cause.code, hit.sink.where): hit for hit in reversed(hits)}
    return list(unique.values())


class _Reader:
    """Of one template; branches are read one after the other, loops once."""

    def __init__(self) -> None:
        self._set: dict[str, Cause | None] = {}
        self._own: set[str] = set()
        """Names of loops: their fields belong to what is looped over."""

    def body(self, body: list[nodes.Node]) -> Iterator[Printed]:
        for node in body:
            yield from self._statement(node)

    def _statement(self, node: nodes.Node) -> Iterator[Printed]:
        match node:
            case nodes.Output(nodes=parts):
                for part in parts:
                    yield from self._expression(part)
            case nodes.If(body=body, elif_=elifs, else_=other):
                yield from self.body(body)
                for each in elifs:
                    yield from self.body(each.body)
                yield from self.body(other)
            case nodes.For(iter=over, target=target, body=body, else_=other):
                cause = self._order(over)
                stays = STABLE_AFTER if self._is_stable(over) else 0
                yield Printed(node.lineno, stays, cause)
                self._own |= {name.name for name in target.find_all(nodes.Name)}
                if isinstance(target, nodes.Name):
                    self._own.add(target.name)
                yield from self.body(body)
                yield from self.body(other)
            case nodes.Assign(target=nodes.Name(name=name), node=value):
                self._set[name] = self._cause(value)
            case nodes.AssignBlock(target=nodes.Name(name=name), body=body):
                inside = [piece.cause for piece in self.body(body) if piece.cause is not None]
                self._set[name] = inside[0] if inside else None
            case nodes.Macro() | nodes.Import() | nodes.FromImport() | nodes.Include():
                return
            case nodes.Block() | nodes.With() | nodes.Scope() | nodes.CallBlock():
                yield from self.body(node.body)
            case nodes.FilterBlock():
                yield from self.body(node.body)
            case _:
                return

    def _expression(self, node: nodes.Node) -> Iterator[Printed]:
        match node:
            case nodes.TemplateData(data=data):
                yield Printed(node.lineno, len(" ".join(data.split())))
            case nodes.Const(value=value):
                yield Printed(node.lineno, len(str(value).strip()))
            case nodes.Concat(nodes=parts):
                for part in parts:
                    yield from self._expression(part)
            case nodes.Add(left=left, right=right):
                yield from self._expression(left)
                yield from self._expression(right)
            case nodes.CondExpr(expr1=one, expr2=other):
                yield from self._expression(one)
                yield from self._expression(other) if other is not None else ()
            case _:
                stays = STABLE_AFTER if self._is_stable(node) else 0
                yield Printed(node.lineno, stays, self._cause(node))

    def _cause(self, node: nodes.Node | None) -> Cause | None:
        """Why what the expression gives differs."""
        match node:
            case nodes.Name(name=name):
                if name in self._set:
                    return self._set[name]
                return None if name in self._own else NAMES.get(name)
            case nodes.Call(node=callee, args=args, kwargs=named):
                found = CALLS.get(_dotted(callee))
                inside = (self._cause(callee.node) if isinstance(callee, nodes.Getattr) else None,)
                given = (*map(self._cause, args), *(self._cause(each.value) for each in named))
                return found or next(filter(None, (*inside, *given)), None)
            case nodes.Filter(name=name, node=of, args=args):
                cause = FILTERS.get(name) or self._cause(of)
                cause = cause or next(filter(None, map(self._cause, args)), None)
                return None if name in SORTING and cause and cause.order else cause
            case nodes.Getattr(node=of) | nodes.Getitem(node=of):
                # A field of what is a clock, as `now.year`; a field named so is the thing's own.
                return self._cause(of)
            case nodes.BinExpr(left=left, right=right):
                return self._cause(left) or self._cause(right)
            case nodes.Concat(nodes=parts) | nodes.List(items=parts) | nodes.Tuple(items=parts):
                return next(filter(None, map(self._cause, parts)), None)
            case nodes.CondExpr(expr1=one, expr2=other):
                return self._cause(one) or self._cause(other)
            case _:
                return None

    def _order(self, node: nodes.Node) -> Cause | None:
        """Why the order of what is looped over differs."""
        match node:
            case nodes.Filter(name=name, node=of):
                if name in SORTING:
                    return None
                return FILTERS.get(name) or (None if of is None else self._order(of))
            case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=name), attr=view)):
                mine = name in self._own or name in self._set
                return DICT_ORDER if view in DICT_VIEWS and not mine else None
            case _:
                return self._cause(node)

    def _is_stable(self, node: nodes.Node) -> bool:
        match node:
            case nodes.Name(name=name):
                return name in STABLE and name not in self._set
            case nodes.Filter(node=nodes.Node() as of) | nodes.Getitem(node=of):
                return self._is_stable(of)
            case _:
                return False


def _dotted(node: nodes.Node) -> str:
    match node:
        case nodes.Name(name=name):
            return name
        case nodes.Getattr(node=of, attr=attr):
            return f"{_dotted(of)}.{attr}"
        case _:
            return ""
