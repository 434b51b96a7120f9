"""The bodies of modules, run once a round, when something first asks for them."""

from typing import TYPE_CHECKING

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.machine.budget import TooLong
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.values import (
    CLEAN,
    Foreign,
    Scope,
    Space,
    Value,
)

if TYPE_CHECKING:
    from headstart.insight.lint_code.machine.machine import Machine


class Modules:
    """Of one tree."""

    def __init__(self, run: "Machine") -> None:
        self._run = run
        self._spaces: dict[int, Scope] = {}
        self._ran: set[int] = set()

    def forget(self) -> None:
        """Each is run again, over the names that it has."""
        self._ran.clear()

    def space(self, module: ir.Module) -> Scope:
        """Its names."""
        scope = self._spaces.setdefault(id(module), Scope(module))
        if id(module) not in self._ran:
            self._ran.add(id(module))
            self._run.budget.begin()
            try:
                self._run.statements.block(module.body, Frame(scope, fixed=True))
            except RecursionError:
                self._run.too_deep.add(module.path)
            except TooLong:
                self._run.too_long.add(module.path)
        return scope

    def imported(self, node: ir.Import, frame: Frame) -> Value:
        """What this import binds its name to."""
        whole_name = node.module if node.member is None else f"{node.module}.{node.member}"
        module = self._run.tree.find(whole_name, frame.scope.module)
        if module is not None:
            return Value(shape=Space(self.space(module)))
        module = self._run.tree.find(node.module, frame.scope.module)
        if module is None or node.member is None:
            return Value(shape=Foreign(whole_name.removesuffix(".default")))
        member = module.exports.get(node.member, node.member)
        return self.space(module).names.get(member, CLEAN)
