"""Imports and exports of JavaScript to the small language."""

from collections.abc import Iterator
from posixpath import normpath
from typing import TYPE_CHECKING

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.grammars import GRAMMARS
from headstart.insight.lint_code.javascript.nodes import text

if TYPE_CHECKING:
    from headstart.insight.lint_code.javascript.lower import Lowerer


class Modules:
    """How the files of a tree name each other."""

    def __init__(self, lowerer: "Lowerer") -> None:
        self._lowerer = lowerer

    def required(self, name: Node, module: str) -> Iterator[ir.Stmt]:
        """`const name = require(module)`, or a pattern of names."""
        at = self._lowerer.at(name)
        if name.type == "identifier":
            yield ir.Import(at, text(name), self.module(module))
            return
        for each in name.named_children:
            member = text(each.named_children[0] if each.named_children else each)
            bound = text(each.named_children[-1] if each.named_children else each)
            yield ir.Import(at, bound, self.module(module), member)

    def imported(self, node: Node) -> Iterator[ir.Stmt]:
        """One for each name."""
        source = node.child_by_field_name("source")
        if source is None:
            return
        module, at = self.module(text(source).strip("'\"`")), self._lowerer.at(node)
        clause = next(
            (child for child in node.named_children if child.type == "import_clause"), None
        )
        for child in clause.named_children if clause else ():
            match child.type:
                case "identifier":
                    yield ir.Import(at, text(child), module, "default")
                case "namespace_import":
                    yield ir.Import(at, text(child.named_children[0]), module)
                case "named_imports":
                    for each in child.named_children:
                        name, alias = (each.child_by_field_name(f) for f in ("name", "alias"))
                        if name is not None:
                            yield ir.Import(at, text(alias or name), module, text(name))

    def exported(self, node: Node) -> Iterator[ir.Stmt]:
        """What it declares; its names go to the exports."""
        declared = node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        source = node.child_by_field_name("source")
        default = any(child.type == "default" for child in node.children)
        at = self._lowerer.at(node)
        if declared is not None:
            yield from self._lowerer.statements.statement(declared)
            name = declared.child_by_field_name("name")
            if default and name is not None:
                self._lowerer.exports["default"] = text(name)
        elif value is not None:
            yield ir.Assign(at, ir.Name(at, "default"), self._lowerer.expressions.expr(value))
        for clause in node.named_children:
            if clause.type != "export_clause":
                continue
            for each in clause.named_children:
                name, alias = (each.child_by_field_name(f) for f in ("name", "alias"))
                if name is None:
                    continue
                self._lowerer.exports[text(alias or name)] = text(name)
                if source is not None:
                    module = self.module(text(source).strip("'\"`"))
                    yield ir.Import(at, text(name), module, text(name))

    def module(self, name: str) -> str:
        """The name by which the tree finds it."""
        if name.startswith("."):
            path = normpath(f"{self._lowerer.directory}/{name}")
        elif name.startswith(("@/", "~/", "#/")):
            path = name[2:]
        else:
            return name.removeprefix("node:")
        for ending in GRAMMARS:
            path = path.removesuffix(f".{ending}")
        return path.removesuffix("/index").replace("/", ".")
