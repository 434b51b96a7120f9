"""The value of an expression."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headstart.insight.lint_code import foreign, ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import moved
from headstart.insight.lint_code.methods import chained, merged, percent
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Closure,
    Foreign,
    Record,
    Text,
    Value,
    join,
    text,
    union,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Expressions:
    """Each kind of expression has one method, here or in the part that it belongs to."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._by_kind: Mapping[type[ir.Expr], Callable[[Any, Frame], Value]] = {
            ir.Const: self._const,
            ir.Name: self._name,
            ir.Attr: run.attributes.attr,
            ir.Index: run.attributes.index,
            ir.Spread: self._spread,
            ir.Call: run.calls.call,
            ir.Joined: run.literals.joined,
            ir.Binary: self._binary,
            ir.Items: run.literals.items,
            ir.Entries: run.literals.entries,
            ir.Each: run.literals.each,
            ir.Either: self._either,
            ir.Opaque: self._opaque,
            ir.Bind: self._bind,
            ir.Function: self._function,
        }

    def eval(self, node: ir.Expr, frame: Frame) -> Value:
        """What is known of it."""
        return self._by_kind[type(node)](node, frame)

    def _const(self, node: ir.Const, _: Frame) -> Value:
        return text([node.value]) if isinstance(node.value, str) else CLEAN

    def _name(self, node: ir.Name, frame: Frame) -> Value:
        scope = frame.scope.find(node.id)
        return Value(shape=Foreign(node.id)) if scope is None else scope.names[node.id]

    def _spread(self, node: ir.Spread, frame: Frame) -> Value:
        return self.eval(node.of, frame)

    def _either(self, node: ir.Either, frame: Frame) -> Value:
        values = [(option, self.eval(option, frame)) for option in node.options]
        kept = [value for option, value in values if not isinstance(option, ir.Opaque)]
        return join(kept) if kept else CLEAN

    def _opaque(self, node: ir.Opaque, frame: Frame) -> Value:
        for part in node.parts:
            self.eval(part, frame)
        return CLEAN

    def _bind(self, node: ir.Bind, frame: Frame) -> Value:
        got = moved(self.eval(node.value, frame), node.at, frame)
        self._run.places.store(node.target, got, frame)
        return got

    def _function(self, node: ir.Function, frame: Frame) -> Value:
        return Value(shape=self._run.functions.met(Closure(node, frame.scope)))

    def _binary(self, node: ir.Binary, frame: Frame) -> Value:
        left, right = self.eval(node.left, frame), self.eval(node.right, frame)
        if node.op == "%" and isinstance(left.shape, Text):
            return percent(left, right)
        if node.op == "+":
            if isinstance(left.shape, Array) or isinstance(right.shape, Array):
                return chained((left, right))
            return text((left, right))
        if node.op == "|":
            if isinstance(left.shape, Record) and isinstance(right.shape, Record):
                return merged((left, right))
            filled = foreign.piped(left, right)
            if filled is not None:
                return filled
        return union((left, right))
