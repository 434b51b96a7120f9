"""Classes of the tree, and objects made of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.taint import hopped
from headstart.insight.lint_code.values import (
    Closure,
    Factory,
    Klass,
    Object,
    Scope,
    Value,
    join,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Classes:
    """Each is made once, however often its module runs."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._by_node: dict[int, Klass] = {}
        self._by_scope: dict[int, Klass] = {}

    def of(self, scope: Scope) -> Klass | None:
        """The class whose own names these are."""
        return self._by_scope.get(id(scope))

    def define(self, node: ir.Class, frame: Frame) -> None:
        """Runs its body; any number of times, for one class."""
        klass = self._by_node.get(id(node))
        if klass is None or klass.scope.outer is not frame.scope:
            bases = [self._run.expressions.eval(base, frame).shape for base in node.bases]
            scope = Scope(frame.scope.module, outer=frame.scope)
            klass = Klass(node, scope, tuple(base for base in bases if isinstance(base, Klass)))
            self._by_node[id(node)] = self._by_scope[id(scope)] = klass
        frame.scope.names[node.name] = Value(shape=klass)
        self._run.statements.block(node.body, Frame(klass.scope, frame.fixed))

    def construct(
        self, klass: Klass, args: Sequence[Value], named: dict[str, Value], frame: Frame
    ) -> Value:
        """An object; without a constructor it keeps what it is given by name. Fields that aren't
        given are what their factories make."""
        made = Value(shape=Object(klass))
        for name, own in klass.fields.items():
            if isinstance(own.shape, Factory) and name not in named:
                self._keep(klass, name, self.fresh(own.shape, frame.fixed))
        maker = klass.get("__init__") or klass.get("constructor")
        if maker is not None and isinstance(maker.shape, Closure):
            bound = Closure(maker.shape.function, maker.shape.scope, made)
            self._run.functions.invoke(bound, args, named, frame.fixed)
            return made
        for name, given in named.items():
            self._keep(klass, name, given.only(hopped))
        return made

    def fresh(self, factory: Factory, fixed: bool) -> Value:
        """What it makes for one more object."""
        frame = Frame(factory.scope, fixed)
        return self._run.expressions.eval(factory.call, frame).only(hopped)

    def _keep(self, klass: Klass, name: str, value: Value) -> None:
        kept = klass.attributes
        kept[name] = join((kept[name], value)) if name in kept else value
