"""What is put into variables, attributes, elements and patterns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.kept import PERSISTENT
from headstart.insight.lint_code.methods import merged
from headstart.insight.lint_code.taint import hopped
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Item,
    Object,
    Record,
    Value,
    array,
    elements,
    join,
    record,
    union,
    whole,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Places:
    """Where values are kept."""

    def __init__(self, run: "Machine") -> None:
        self._run = run

    def depth(self, target: ir.Expr, frame: Frame) -> int:
        """How many loops deep the target was bound; PERSISTENT where it outlives the call."""
        match target:
            case ir.Name(id=name) if name not in frame.scope.shared and name in frame.scope.names:
                return PERSISTENT if frame.scope.outer is None else frame.scope.depths.get(name, 0)
            case ir.Index(of=of):
                return self.depth(of, frame)
            case _:
                return PERSISTENT

    def accumulated(self, value: Value, target: ir.Expr, frame: Frame) -> Value:
        """Of what is added to something that is older than this round of the loop."""
        return whole(value) if max(self.depth(target, frame), 0) < frame.loops else value

    def store(self, target: ir.Expr, value: Value, frame: Frame, *, fresh: bool = False) -> None:
        """`fresh` where the target is bound anew."""
        match target:
            case ir.Name(id=name):
                scope = frame.scope
                if name in scope.shared:
                    outer = scope.outer.find(name) if scope.outer else None
                    if outer is not None:
                        outer.names[name] = join((outer.names[name], value))
                    return
                scope.names[name] = value
                if fresh:
                    scope.depths[name] = frame.loops
            case ir.Attr(of=of, name=name):
                holder = self._run.expressions.eval(of, frame)
                if isinstance(holder.shape, Object):
                    value = value.only(hopped)
                    kept = holder.shape.klass.attributes
                    kept[name] = join((kept[name], value)) if name in kept else value
                elif isinstance(holder.shape, Record):
                    self.store(of, merged((holder, record([(name, value)]))), frame)
            case ir.Index(of=of, key=key):
                self.store(
                    of,
                    self._put(self._run.expressions.eval(of, frame), key, value, target, frame),
                    frame,
                )
            case ir.Items(items=items):
                self._unpack(items, value, frame)
            case ir.Entries(entries=entries):
                for entry, inner in entries:
                    name_ = entry.value if isinstance(entry, ir.Const) else None
                    self.store(inner, self._part(value, str(name_)), frame, fresh=True)
            case ir.Spread(of=of):
                self.store(of, value, frame, fresh=True)
            case ir.Bind(target=of, value=default):
                self.store(
                    of, join((value, self._run.expressions.eval(default, frame))), frame, fresh=True
                )
            case _:
                self._run.expressions.eval(target, frame)

    def _put(
        self, holder: Value, key: ir.Expr | None, value: Value, target: ir.Expr, frame: Frame
    ) -> Value:
        index = key.value if isinstance(key, ir.Const) else None
        if isinstance(holder.shape, Array) and isinstance(index, int):
            items = list(holder.shape.items)
            if -len(items) <= index < len(items):
                items[index] = Item(value)
                return array(items)
        if isinstance(index, str):
            return merged((holder, record([(index, value)])))
        named = Value() if key is None else self._run.expressions.eval(key, frame)
        added = self.accumulated(union((named, value)), target, frame)
        rest = record([], added)
        return (
            merged((holder, rest)) if isinstance(holder.shape, Record) else union((holder, added))
        )

    def _unpack(self, targets: Sequence[ir.Expr], value: Value, frame: Frame) -> None:
        items = value.shape.items if isinstance(value.shape, Array) else ()
        exact = len(items) == len(targets) and not any(item.many for item in items)
        for number, target in enumerate(targets):
            part = items[number].value if exact else elements(value)
            self.store(target, part, frame, fresh=True)

    def _part(self, value: Value, name: str) -> Value:
        if isinstance(value.shape, Record):
            return value.shape.get(name) or CLEAN
        return value.plain
