"""Runs statements."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.language import COUNTER
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.kept import PERSISTENT, said_once
from headstart.insight.lint_code.machine.steps import moved, taint_of
from headstart.insight.lint_code.methods import chained, merged
from headstart.insight.lint_code.values import (
    Array,
    Item,
    Record,
    Text,
    Value,
    elements,
    join,
    text,
    union,
    whole,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Statements:
    """Of any body."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._by_kind: Mapping[type[ir.Stmt], Callable[[Any, Frame], None]] = {
            ir.Assign: self._assign,
            ir.Grow: self._grow,
            ir.Run: self._evaluate,
            ir.Return: self._return,
            ir.Branch: self._branch,
            ir.Loop: self._loop,
            ir.Class: run.classes.define,
            ir.Import: self._import,
            ir.Outer: self._outer,
        }

    def block(self, body: Sequence[ir.Stmt], frame: Frame) -> None:
        """All of them, in order. Raises TooLong."""
        self._run.budget.spend(len(body))
        for statement in body:
            self._by_kind[type(statement)](statement, frame)

    def _assign(self, node: ir.Assign, frame: Frame) -> None:
        got = moved(self._run.expressions.eval(node.value, frame), node.at, frame)
        self._run.places.store(node.target, got, frame, fresh=True)

    def _evaluate(self, node: ir.Run, frame: Frame) -> None:
        self._run.expressions.eval(node.value, frame)

    def _return(self, node: ir.Return, frame: Frame) -> None:
        value = node.value
        if not node.many:
            got = self._run.expressions.eval(value, frame)
            frame.returned.append(moved(got, node.at, frame))
            return
        inner = value.of if isinstance(value, ir.Spread) else value
        got = whole(self._run.expressions.eval(inner, frame))
        frame.yielded.append(Item(got, many=True))

    def _import(self, node: ir.Import, frame: Frame) -> None:
        frame.scope.names[node.name] = self._run.modules.imported(node, frame)

    def _outer(self, node: ir.Outer, frame: Frame) -> None:
        frame.scope.shared.update(node.names)

    def _branch(self, node: ir.Branch, frame: Frame) -> None:
        names = frame.scope.names
        before, ends = dict(names), []
        for body in node.bodies:
            names.clear()
            names.update(before)
            returned = len(frame.returned)
            self.block(body, frame)
            left = any(isinstance(each, ir.Return) and not each.many for each in body)
            if not left or returned == len(frame.returned):
                ends.append(dict(names))
        first, *others = ends or [before]
        names.clear()
        names.update(first)
        for end in others:
            for name, value in end.items():
                other = names.get(name)
                if other is None:
                    names[name] = value
                elif other is not value:
                    names[name] = join((other, value))

    def _loop(self, node: ir.Loop, frame: Frame) -> None:
        over = None if node.over is None else self._run.expressions.eval(node.over, frame)
        frame.loops += 1
        before = dict(frame.scope.names)
        for _ in range(2):
            if node.target is not None and over is not None:
                element = moved(elements(over), node.at, frame)
                self._run.places.store(node.target, element, frame, fresh=True)
            self.block(node.body, frame)
        frame.loops -= 1
        for name, value in before.items():
            after = frame.scope.names.get(name, value)
            if after is not value:
                frame.scope.names[name] = join((value, after))

    def _grow(self, node: ir.Grow, frame: Frame) -> None:
        old, new = (
            self._run.expressions.eval(node.target, frame),
            self._run.expressions.eval(node.value, frame),
        )
        if isinstance(node.value, ir.Const) and not isinstance(node.value.value, str):
            if self._run.places.depth(node.target, frame) == PERSISTENT and not frame.fixed:
                counted = taint_of(COUNTER, node.at, frame)
                self._run.places.store(node.target, Value(old.taints | {counted}), frame)
            return
        new = moved(self._run.places.accumulated(new, node.target, frame), node.at, frame)
        if isinstance(old.shape, Array):
            kept = self._run.places.depth(node.target, frame) == PERSISTENT
            made = chained((old, said_once(new) if kept else new))
        elif isinstance(new.shape, Text) or isinstance(old.shape, Text):
            made = text((old, new))
        elif isinstance(old.shape, Record):
            made = merged((old, new))
        else:
            made = union((old, new))
        self._run.places.store(node.target, made, frame)
