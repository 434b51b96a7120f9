"""Calls of what is not in the tree: sources of taints, and sinks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headstart.insight.lint_code import foreign, ir
from headstart.insight.lint_code.language import CHANCE, DRAWN
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import taint_of
from headstart.insight.lint_code.sinks import (
    SYSTEM_NAMES,
    Sent,
    answers,
    early,
)
from headstart.insight.lint_code.taint import NONE
from headstart.insight.lint_code.values import (
    CLEAN,
    Closure,
    Factory,
    Foreign,
    Value,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Outside:
    """What is known of them is in tables."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._seeded: set[str] = set()
        """Modules whose random values are the same each time."""

    def call(
        self,
        node: ir.Call,
        callee: Value,
        receiver: Value,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
    ) -> Value:
        """What comes back; reports what it sends."""
        name = callee.shape.name if isinstance(callee.shape, Foreign) else "*"
        factory = foreign.factory(name, node)
        if factory is not None:
            return Value(shape=Factory(ir.Call(factory.at, factory), frame.scope))
        if isinstance(given := named.get("default", CLEAN).shape, Factory):
            return Value(shape=given)
        language = self._run.language(frame)
        said = {name: self._said(name, value) for name, value in named.items()}
        sent = Sent(name, args, said, objects=not language.explicit_self)
        for found in early(sent):
            self._run.hits.report(found, node, frame)
        made = foreign.Made(
            name, callee, receiver, args, named, self._run.calls.caller(frame), node.new
        )
        for found in foreign.filled(made):
            self._run.hits.report(found, node, frame)
        if name in language.seeders and args and not args[0].taints:
            self._seeded.add(frame.scope.module.path)
        cause = foreign.cause(made, language)
        if cause in {CHANCE, DRAWN} and frame.scope.module.path in self._seeded:
            cause = None
        own = NONE if cause is None else {taint_of(cause, node.at, frame)}
        if foreign.makes_a_set(made, language):
            return self._run.literals.bag(foreign.result(made, language), node, frame)
        mutated = foreign.shuffled(made, language)
        if mutated is not None and node.args:
            shuffled = Value(args[0].taints | {taint_of(mutated, node.at, frame)}, args[0].shape)
            self._run.places.store(node.args[0], shuffled, frame)
        if answers(sent):
            # What a model says is its own.
            return Value(shape=Foreign(f"{name}()"))
        got = foreign.result(made, language)
        return Value(got.taints | own, got.shape)

    def _said(self, name: str, value: Value) -> Value:
        """A function that is given for a prompt is asked for it at each run."""
        if name in SYSTEM_NAMES and isinstance(value.shape, Closure):
            return self._run.functions.invoke(value.shape, (), {}, False)
        return value
