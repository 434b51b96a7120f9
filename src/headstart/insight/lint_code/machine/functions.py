"""Runs functions, once for each kind of arguments."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.language import BAG
from headstart.insight.lint_code.machine.budget import TooLong
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.steps import taint_of
from headstart.insight.lint_code.machine.widened import widened
from headstart.insight.lint_code.prompt import Early
from headstart.insight.lint_code.sinks import PROMPT_DECORATORS
from headstart.insight.lint_code.taint import NONE, Taint
from headstart.insight.lint_code.values import (
    CLEAN,
    Closure,
    Item,
    Klass,
    Object,
    Scope,
    Value,
    array,
    join,
    record,
    union,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


MAX_DEPTH = 8


class Functions:
    """With what has come of each run in this round."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._met: dict[int, Closure] = {}
        self._called: set[int] = set()
        self._memo: dict[tuple[object, ...], Value] = {}
        self._running: list[int] = []

    def forget(self) -> None:
        """What they gave; not which there are, and which are called."""
        self._memo.clear()

    def met(self, closure: Closure) -> Closure:
        """The same, remembered as one that may be called from outside."""
        self._met[id(closure.function)] = closure
        return closure

    def all_alone(self) -> None:
        """Each that was met, and those that are met meanwhile."""
        done: set[int] = set()
        while rest := [each for key, each in self._met.items() if key not in done]:
            for closure in rest:
                done.add(id(closure.function))
                try:
                    self._alone(closure)
                except RecursionError:
                    self._run.too_deep.add(closure.scope.module.path)
                except TooLong:
                    self._run.too_long.add(closure.scope.module.path)

    def _alone(self, closure: Closure) -> None:
        """The function with unknown arguments, as anyone may call it."""
        bound = closure.bound
        klass = self._run.classes.of(closure.scope)
        if bound is None and klass is not None:
            bound = Value(shape=Object(klass))
        function = closure.function
        self._run.budget.begin()
        unseen = id(function) not in self._called
        got = self.invoke(Closure(function, closure.scope, bound), (), {}, False, hints=unseen)
        if function.decorators & PROMPT_DECORATORS:
            frame = Frame(closure.scope, fixed=False)
            self._run.hits.report(Early("the system prompt", got.taints), function, frame)

    def invoke(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        fixed: bool,
        *,
        hints: bool | None = None,
    ) -> Value:
        """What it gives for these arguments. `hints`: nobody calls it, so its parameters are what
        their names say; None where somebody does, just now."""
        function = closure.function
        args = [widened(arg) for arg in args]
        named = {name: widened(arg) for name, arg in named.items()}
        if hints is None:
            self._called.add(id(function))
        if id(function) in self._running or len(self._running) >= MAX_DEPTH:
            return CLEAN
        key = (id(function), id(closure.scope), closure.bound, tuple(args), tuple(named.items()))
        whole_key = (*key, fixed, hints)
        known = self._memo.get(whole_key)
        if known is not None:
            return known
        if not self._run.budget.body():
            return CLEAN
        self._running.append(id(function))
        try:
            made = self._body(closure, args, named, fixed, bool(hints))
        finally:
            self._running.pop()
        self._memo[whole_key] = made
        return made

    def _body(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        fixed: bool,
        hints: bool,
    ) -> Value:
        function = closure.function
        frame = Frame(Scope(closure.scope.module, outer=closure.scope), fixed)
        self._bind(closure, args, named, frame, hints)
        self._run.statements.block(function.body, frame)
        if frame.yielded:
            return array(frame.yielded, union(item.value for item in frame.yielded).taints)
        return join(frame.returned) if frame.returned else CLEAN

    def _bind(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
        hints: bool,
    ) -> None:
        names, function = frame.scope.names, closure.function
        params = list(function.params)
        if closure.bound is not None:
            if self._run.language(frame).explicit_self and params:
                names[params.pop(0).name] = closure.bound
            else:
                names["this"] = closure.bound
        rest = list(args)
        unused = dict(named)
        for param in params:
            if param.kind == "rest":
                value = array(Item(arg) for arg in rest)
                rest = []
            elif param.kind == "named_rest":
                others = unused.pop("", None)
                value = record(unused.items(), others)
            elif param.name in unused:
                value = unused.pop(param.name)
            elif rest and param.kind == "plain":
                value = rest.pop(0)
            else:
                value = self._unsaid(closure, param, frame)
                value = Value(
                    value.taints | self._hinted(param, function, frame, hints), value.shape
                )
            names[param.name] = value
            if param.target is not None:
                self._run.places.store(param.target, value, frame, fresh=True)

    def _unsaid(self, closure: Closure, param: ir.Param, frame: Frame) -> Value:
        """What a parameter is that nobody gives: its default, else any object of its class."""
        if param.default is not None:
            return self._run.expressions.eval(param.default, frame)
        if param.annotation is not None:
            outside = Frame(closure.scope, frame.fixed)
            named = self._run.expressions.eval(param.annotation, outside).shape
            if isinstance(named, Klass):
                return Value(shape=Object(named))
        return CLEAN

    def _hinted(
        self, param: ir.Param, function: ir.Function, frame: Frame, hints: bool
    ) -> frozenset[Taint]:
        if param.is_set:
            return frozenset({taint_of(BAG, function.at, frame)})
        cause = self._run.language(frame).parameters.get(param.name) if hints else None
        return NONE if cause is None else frozenset({taint_of(cause, function.at, frame)})
