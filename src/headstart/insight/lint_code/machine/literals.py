"""Lists, sets, dicts, comprehensions and text, as they are written."""

from typing import TYPE_CHECKING

from headstart.insight.lint_code import foreign, ir
from headstart.insight.lint_code.language import BAG
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import moved, taint_of
from headstart.insight.lint_code.methods import chained, merged
from headstart.insight.lint_code.taint import NONE, ordered, unordered
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Item,
    Object,
    Scope,
    Value,
    array,
    constant,
    elements,
    record,
    text,
    union,
    whole,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Literals:
    """Values with a shape."""

    def __init__(self, run: "Machine") -> None:
        self._run = run

    def joined(self, node: ir.Joined, frame: Frame) -> Value:
        """Text made of parts."""
        evaluate = self._run.expressions.eval
        return text(self._printed(evaluate(part, frame), part, frame) for part in node.parts)

    def items(self, node: ir.Items, frame: Frame) -> Value:
        """A list or a set."""
        items: list[Item] = []
        own = NONE
        for each in node.items:
            value = self._run.expressions.eval(each, frame)
            if isinstance(each, ir.Spread):
                spread = chained((value,)) if isinstance(value.shape, Array) else None
                own |= whole(value).taints
                inside = None if spread is None else spread.shape
                many = Item(elements(value), many=True)
                items += inside.items if isinstance(inside, Array) else (many,)
            else:
                items.append(Item(value))
        made = array(items, own)
        if node.kind == "set" and len(items) > 1:
            return self.bag(made, node, frame)
        return made

    def bag(self, value: Value, node: ir.Expr, frame: Frame) -> Value:
        """A set: its order is one of its own, whatever it was."""
        if self._run.language(frame).ordered_sets:
            return value
        kept = whole(value).only(ordered)
        return Value(kept.taints | {taint_of(BAG, node.at, frame)})

    def entries(self, node: ir.Entries, frame: Frame) -> Value:
        """A dict or an object."""
        parts: list[Value] = []
        for key, inner in node.entries:
            value = moved(self._run.expressions.eval(inner, frame), inner.at, frame)
            if key is None:
                parts.append(value if value.shape else value.plain)
                continue
            name = constant(self._run.expressions.eval(key, frame))
            known = name is not None
            parts.append(record([(str(name), value)]) if known else record([], value))
        return merged(parts)

    def each(self, node: ir.Each, frame: Frame) -> Value:
        """A comprehension."""
        scope = Scope(frame.scope.module, outer=frame.scope)
        inner = Frame(scope, frame.fixed, frame.loops)
        overs = []
        for target, over in node.loops:
            value = self._run.expressions.eval(over, inner)
            overs.append(value)
            self._run.places.store(target, moved(elements(value), node.at, frame), inner)
        element = self._run.expressions.eval(node.element, inner)
        if node.kind == "dict":
            key = CLEAN if node.key is None else self._run.expressions.eval(node.key, inner)
            order = whole(union(elements(over) for over in overs)).only(unordered)
            return record([], whole(union((key, element, order))))
        made = element
        order = union(whole(elements(over)).only(unordered) for over in overs)
        result = array([Item(whole(made), many=True)], order.taints)
        return self.bag(result, node, frame) if node.kind == "set" else result

    def _printed(self, value: Value, node: ir.Expr, frame: Frame) -> Value:
        """Within text. An object without a text of its own prints its address."""
        if _prints_address(value) and self._run.language(frame).prints_addresses:
            return Value(value.taints | {taint_of(foreign.ADDRESS, node.at, frame)})
        return value


def _prints_address(value: Value) -> bool:
    """A list prints its elements."""
    match value.shape:
        case Object(klass):
            return not klass.prints
        case Array(items):
            return any(_prints_address(item.value) for item in items)
        case _:
            return False
