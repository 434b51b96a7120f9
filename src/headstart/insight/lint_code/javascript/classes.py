"""Classes of JavaScript to the small language."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.nodes import text

if TYPE_CHECKING:
    from headstart.insight.lint_code.javascript.lower import Lowerer


class Classes:
    """Fields first, then methods."""

    def __init__(self, lowerer: "Lowerer") -> None:
        self._lowerer = lowerer

    def lower(self, node: Node) -> ir.Class:
        """With its body."""
        at = self._lowerer.at(node)
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        bases = [
            self._lowerer.expressions.expr(base)
            for child in node.named_children
            if child.type == "class_heritage"
            for base in _extended(child)
        ]
        made: list[ir.Stmt] = []
        own: list[ir.Stmt] = []
        for member in body.named_children if body else ():
            key = member.child_by_field_name("name")
            if member.type == "method_definition":
                function = self._lowerer.functions.function(member)
                made.append(
                    ir.Assign(
                        self._lowerer.at(member),
                        ir.Name(self._lowerer.at(member), function.name),
                        function,
                    )
                )
            elif member.type in {"public_field_definition", "field_definition"}:
                key = key or member.child_by_field_name("property")
                value = member.child_by_field_name("value")
                if key is not None and value is not None:
                    where = self._lowerer.at(member)
                    own.append(
                        ir.Assign(
                            where, ir.Name(where, text(key)), self._lowerer.expressions.expr(value)
                        )
                    )
        return ir.Class(at, text(name) if name else "", tuple(bases), (*own, *made), prints=True)


def _extended(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "extends_clause":
            yield from child.named_children[:1]
        elif child.type == "identifier":
            yield child
