"""Functions, methods and arrows of JavaScript to the small language."""

from typing import TYPE_CHECKING, Literal

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.nodes import first, text

if TYPE_CHECKING:
    from headstart.insight.lint_code.javascript.lower import Lowerer


class Functions:
    """With their parameters."""

    def __init__(self, lowerer: "Lowerer") -> None:
        self._lowerer = lowerer

    def function(self, node: Node) -> ir.Function:
        """With its body."""
        at = self._lowerer.at(node)
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        single = node.child_by_field_name("parameter")
        given = node.child_by_field_name("parameters")
        nodes = [single] if single is not None else given.named_children if given else []
        params = tuple(self._param(each) for each in nodes if each.type != "comment")
        if body is not None and body.type != "statement_block":
            inner: tuple[ir.Stmt, ...] = (
                ir.Return(self._lowerer.at(body), self._lowerer.expressions.expr(body)),
            )
        else:
            inner = self._lowerer.statements.body(body)
        words = {text(child) for child in node.children if child.type in {"get", "static"}}
        marks = {"staticmethod" if word == "static" else word for word in words}
        return ir.Function(at, text(name) if name else "", params, inner, frozenset(marks))

    def _param(self, node: Node) -> ir.Param:
        kind: Literal["plain", "rest"] = "plain"
        default: ir.Expr | None = None
        if node.type in {"required_parameter", "optional_parameter"}:
            value = node.child_by_field_name("value")
            default = None if value is None else self._lowerer.expressions.expr(value)
            node = node.child_by_field_name("pattern") or node
        if node.type == "assignment_pattern":
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            default = None if right is None else self._lowerer.expressions.expr(right)
            node = left or node
        if node.type == "rest_pattern":
            kind = "rest"
            node = first(node) or node
        if node.type in {"object_pattern", "array_pattern"}:
            return ir.Param("", default, kind, target=self._lowerer.expressions.expr(node))
        return ir.Param(text(node), default, kind)
