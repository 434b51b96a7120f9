"""What is read from objects, classes, modules and containers."""

from typing import TYPE_CHECKING

from headstart.insight.lint_code import foreign, ir
from headstart.insight.lint_code.language import CHANCE, COUNTER
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import taint_of
from headstart.insight.lint_code.taint import NONE, Taint, ordered
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Closure,
    Factory,
    Foreign,
    Klass,
    Object,
    Record,
    Space,
    Value,
    elements,
    join,
    union,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Attributes:
    """`of.name` and `of[key]`."""

    def __init__(self, run: "Machine") -> None:
        self._run = run

    def attr(self, node: ir.Attr, frame: Frame) -> Value:
        """`of.name`."""
        return self.read(self._run.expressions.eval(node.of, frame), node.name, node, frame)

    def read(self, holder: Value, name: str, node: ir.Expr, frame: Frame) -> Value:
        """An attribute of this holder."""
        match holder.shape:
            case Object(klass):
                kept, own = klass.kept(name), klass.get(name)
                if own is not None and isinstance(own.shape, Closure):
                    return self._bound(own.shape, holder, frame)
                if own is not None and isinstance(own.shape, Factory):
                    # Nobody here makes such an object, so it may be made for each request.
                    own = None if kept else self._run.classes.fresh(own.shape, fixed=False)
                either = [each for each in (kept, own) if each is not None]
                if either:
                    return join(either)
                return self._foreign_attribute(holder, name, node, frame)
            case Klass() as klass:
                own = klass.get(name)
                if own is None or isinstance(own.shape, Factory):
                    return self._foreign_attribute(holder, name, node, frame)
                if (
                    isinstance(own.shape, Closure)
                    and "classmethod" in own.shape.function.decorators
                ):
                    return self._bound(own.shape, holder, frame)
                return own
            case Space(scope):
                return scope.names.get(scope.module.exports.get(name, name), CLEAN)
            case Record() as fields if (found := fields.get(name)) is not None:
                return found
            case _:
                return self._foreign_attribute(holder, name, node, frame)

    def _foreign_attribute(self, holder: Value, name: str, node: ir.Expr, frame: Frame) -> Value:
        path = holder.shape.name if isinstance(holder.shape, Foreign) else "*"
        cause = foreign.attribute(f"{path}.{name}", self._run.language(frame))
        more = NONE if cause is None else {taint_of(cause, node.at, frame)}
        return Value(holder.taints | more, Foreign(f"{path}.{name}"))

    def _bound(self, closure: Closure, holder: Value, frame: Frame) -> Value:
        if "staticmethod" in closure.function.decorators:
            return Value(shape=closure)
        bound = Closure(closure.function, closure.scope, holder)
        if closure.function.decorators & {"property", "cached_property", "get"}:
            return self._run.functions.invoke(bound, (), {}, frame.fixed)
        return Value(shape=bound)

    def index(self, node: ir.Index, frame: Frame) -> Value:
        """`of[key]`."""
        holder, key = self._run.expressions.eval(node.of, frame), node.key
        index = None if key is None else self._run.expressions.eval(key, frame)
        name = key.value if isinstance(key, ir.Const) else None
        match holder.shape:
            case Record() as fields if isinstance(name, str):
                return fields.get(name) or CLEAN
            case Array(items) if isinstance(name, int) and not any(i.many for i in items):
                if -len(items) <= name < len(items):
                    return items[name].value
            case Record() as fields if not isinstance(key, ir.Const):
                # What is found by its key is the same in whatever order the keys came.
                return fields.any.only(ordered)
        if key is None:
            return holder
        if isinstance(name, str) and (cause := foreign.header(name)) is not None:
            return Value(holder.taints | {taint_of(cause, node.at, frame)})
        # The first of a listing is whichever comes first.
        got = elements(holder) if name is None else union((holder,))
        drawn = NONE if index is None else frozenset(filter(_chosen, index.taints))
        return Value(got.taints | drawn, got.shape)


def _chosen(taint: Taint) -> bool:
    """What a list is indexed with matters where it is drawn; a lookup by id finds what is there."""
    return taint.cause.code in {CHANCE.code, COUNTER.code}
