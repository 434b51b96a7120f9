"""Expressions and patterns of JavaScript to the small language."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.nodes import first, text, unescaped

if TYPE_CHECKING:
    from headstart.insight.lint_code.javascript.lower import Lowerer

_FUNCTIONS = {
    "arrow_function",
    "function_expression",
    "function_declaration",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
}
_TRANSPARENT = {
    "parenthesized_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
    "await_expression",
    "type_assertion",
    "expression_statement",
    "instantiation_expression",
}
_COMPARISONS = {"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"}


class Expressions:
    """`ir.Expr` of each node."""

    def __init__(self, lowerer: "Lowerer") -> None:
        self._lowerer = lowerer

    def expr(self, node: Node) -> ir.Expr:
        """What this node is."""
        at = self._lowerer.at(node)
        field = node.child_by_field_name
        match node.type:
            case "string":
                return ir.Const(at, unescaped(node))
            case "number":
                digits = text(node)
                return ir.Const(at, int(digits) if digits.isdecimal() else 0.0)
            case "template_string":
                return ir.Joined(at, tuple(self._template_part(c) for c in node.named_children))
            case "identifier" | "shorthand_property_identifier" | "this" | "super":
                return ir.Name(at, text(node))
            case "shorthand_property_identifier_pattern" | "property_identifier":
                return ir.Name(at, text(node))
            case "member_expression":
                of, name = field("object"), field("property")
                return ir.Attr(at, self.of(of, at), text(name) if name else "")
            case "subscript_expression":
                of, key = field("object"), field("index")
                return ir.Index(at, self.of(of, at), self.of(key, at))
            case "call_expression" | "new_expression":
                return self._call(node)
            case "object" | "object_pattern":
                return self._object(node)
            case "array" | "array_pattern":
                return ir.Items(at, "list", tuple(self.expr(c) for c in node.named_children))
            case "spread_element" | "rest_pattern":
                inner = first(node)
                return ir.Spread(at, self.of(inner, at))
            case "binary_expression":
                return self._binary(node)
            case "ternary_expression":
                test = ir.Opaque(at, (self.of(field("condition"), at),))
                options = (self.of(field("consequence"), at), self.of(field("alternative"), at))
                return ir.Either(at, (test, *options))
            case "assignment_expression":
                return ir.Bind(at, self.of(field("left"), at), self.of(field("right"), at))
            case "assignment_pattern" | "object_assignment_pattern":
                return ir.Bind(at, self.of(field("left"), at), self.of(field("right"), at))
            case "augmented_assignment_expression":
                left, right = self.of(field("left"), at), self.of(field("right"), at)
                return ir.Bind(at, left, ir.Binary(at, "+", left, right))
            case "unary_expression":
                operator = field("operator")
                value = self.of(field("argument"), at)
                keeps = operator is not None and text(operator) in "+-"
                return value if keeps else ir.Opaque(at, (value,))
            case "update_expression":
                return self.of(field("argument"), at)
            case "sequence_expression":
                parts = tuple(self.expr(child) for child in node.named_children)
                return parts[-1] if parts else ir.Const(at)
            case "yield_expression":
                return self.of(first(node), at)
            case "jsx_element" | "jsx_self_closing_element" | "jsx_fragment":
                return ir.Opaque(at, tuple(self._inside(node)))
            case "jsx_expression":
                return self.of(first(node), at)
            case kind if kind in _FUNCTIONS:
                return self._lowerer.functions.function(node)
            case kind if kind in _TRANSPARENT:
                return self.of(first(node), at)
            case _:
                return ir.Const(at)

    def of(self, node: Node | None, at: ir.At) -> ir.Expr:
        """Nothing of interest where there is no node."""
        return ir.Const(at) if node is None else self.expr(node)

    def _inside(self, node: Node) -> Iterator[ir.Expr]:
        for child in node.named_children:
            if child.type == "jsx_expression":
                yield self.expr(child)
            else:
                yield from self._inside(child)

    def _template_part(self, node: Node) -> ir.Expr:
        if node.type == "template_substitution":
            return self.of(first(node), self._lowerer.at(node))
        return ir.Const(self._lowerer.at(node), text(node))

    def _call(self, node: Node) -> ir.Expr:
        at = self._lowerer.at(node)
        new = node.type == "new_expression"
        callee = node.child_by_field_name("constructor" if new else "function")
        given = node.child_by_field_name("arguments")
        if given is not None and given.type == "template_string":
            args: tuple[ir.Expr, ...] = (self.expr(given),)
        else:
            children = given.named_children if given is not None else []
            args = tuple(self.expr(child) for child in children if child.type != "comment")
        if callee is not None and callee.type == "import":
            return ir.Const(at)
        return ir.Call(at, self.of(callee, at), args, new=new)

    def _object(self, node: Node) -> ir.Expr:
        at = self._lowerer.at(node)
        entries: list[tuple[ir.Expr | None, ir.Expr]] = []
        for child in node.named_children:
            where = self._lowerer.at(child)
            match child.type:
                case "pair" | "pair_pattern":
                    key, value = (
                        child.child_by_field_name("key"),
                        child.child_by_field_name("value"),
                    )
                    entries.append((self._key(key, where), self.of(value, where)))
                case "shorthand_property_identifier" | "shorthand_property_identifier_pattern":
                    name = text(child)
                    entries.append((ir.Const(where, name), ir.Name(where, name)))
                case "object_assignment_pattern":
                    left = child.child_by_field_name("left")
                    name = text(left) if left is not None else ""
                    entries.append((ir.Const(where, name), self.expr(child)))
                case "spread_element" | "rest_pattern":
                    entries.append((None, self.of(first(child), where)))
                case "method_definition":
                    function = self._lowerer.functions.function(child)
                    entries.append((ir.Const(where, function.name), function))
        return ir.Entries(at, tuple(entries))

    def _key(self, node: Node | None, at: ir.At) -> ir.Expr:
        if node is None:
            return ir.Const(at)
        if node.type == "computed_property_name":
            return self.of(first(node), at)
        return ir.Const(at, text(node).strip("'\""))

    def _binary(self, node: Node) -> ir.Expr:
        at = self._lowerer.at(node)
        left, right, operator = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        op = "" if operator is None else text(operator)
        sides = (self.of(left, at), self.of(right, at))
        if op in _COMPARISONS:
            return ir.Opaque(at, sides)
        if op in {"||", "??"}:
            return ir.Either(at, sides)
        if op == "&&":
            return ir.Either(at, (ir.Opaque(at, sides[:1]), sides[1]))
        return ir.Binary(at, "+" if op == "+" else f"number {op}", *sides)
