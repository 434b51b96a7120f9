"""Calls of functions and classes of the tree, of known methods, and of what is outside."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.kept import PERSISTENT, said_once
from headstart.insight.lint_code.machine.steps import moved
from headstart.insight.lint_code.methods import Caller, Given, method
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Closure,
    Foreign,
    Klass,
    Record,
    Value,
    union,
    whole,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


_APPENDS = frozenset({"append", "push", "extend", "appendleft"})


class Calls:
    """What a call gives depends on what is called."""

    def __init__(self, run: "Machine") -> None:
        self._run = run

    def call(self, node: ir.Call, frame: Frame) -> Value:
        """What comes back."""
        args = self._args(node.args, frame)
        named = self._named(node.named, frame)
        if isinstance(node.callee, ir.Attr):
            receiver = self._run.expressions.eval(node.callee.of, frame)
            callee = self._run.attributes.read(receiver, node.callee.name, node.callee, frame)
            if not isinstance(callee.shape, Closure | Klass):
                known = self._method(node.callee, receiver, args, named, frame)
                if known is not None:
                    return known
        else:
            receiver, callee = CLEAN, self._run.expressions.eval(node.callee, frame)
        match callee.shape:
            case Closure() as closure:
                got = self._run.functions.invoke(closure, args, named, frame.fixed)
                return moved(got, node.at, frame)
            case Klass() as klass:
                return self._run.classes.construct(klass, args, named, frame)
            case _:
                return self._run.outside.call(node, callee, receiver, args, named, frame)

    def _args(self, nodes: Sequence[ir.Expr], frame: Frame) -> tuple[Value, ...]:
        args: list[Value] = []
        for node in nodes:
            value = moved(self._run.expressions.eval(node, frame), node.at, frame)
            if isinstance(node, ir.Spread) and isinstance(value.shape, Array):
                args += [item.value for item in value.shape.items]
            else:
                args.append(value)
        return tuple(args)

    def _named(self, nodes: Sequence[tuple[str, ir.Expr]], frame: Frame) -> dict[str, Value]:
        """`**fields` gives each of its keys; those that aren't known stand under ""."""
        named: dict[str, Value] = {}
        spread: list[Value] = []
        for name, node in nodes:
            value = self._run.expressions.eval(node, frame)
            if name:
                named[name] = value
            elif isinstance(value.shape, Record):
                named.update(value.shape.fields)
                spread += [value.shape.rest] if value.shape.rest else []
            else:
                spread.append(value.plain)
        return {**named, "": union(spread)} if spread else named

    def _method(
        self,
        callee: ir.Attr,
        receiver: Value,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
    ) -> Value | None:
        known = method(receiver, callee.name)
        if known is None or (
            isinstance(receiver.shape, Foreign)
            and not receiver.taints
            and not any(arg.taints for arg in args)
        ):
            return None
        target = callee.of
        depth = self._run.places.depth(target, frame)
        kept = [self._run.places.accumulated(arg, target, frame) for arg in args]
        if callee.name in _APPENDS and depth == PERSISTENT:
            kept = [said_once(whole(arg)) for arg in kept]
        call = self.caller(frame)
        outcome = known(Given(receiver, kept, named, call))
        if outcome.receiver is not None and isinstance(target, ir.Name | ir.Attr | ir.Index):
            self._run.places.store(target, outcome.receiver, frame)
        return outcome.result

    def caller(self, frame: Frame) -> Caller:
        """Calls callbacks, as this frame would."""

        def call(function: Value, args: Sequence[Value]) -> Value:
            if isinstance(function.shape, Closure):
                return self._run.functions.invoke(function.shape, args, {}, frame.fixed)
            return union(args)

        return call
