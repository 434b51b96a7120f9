"""Statements of JavaScript to the small language."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.nodes import first, required, text

if TYPE_CHECKING:
    from headstart.insight.lint_code.javascript.lower import Lowerer


class Statements:
    """`ir.Stmt` of each node, in the order in which they run."""

    def __init__(self, lowerer: "Lowerer") -> None:
        self._lowerer = lowerer

    def block(self, nodes: Iterable[Node]) -> tuple[ir.Stmt, ...]:
        """Functions are bound before anything else runs, as they are in JavaScript."""
        nodes = list(nodes)
        first = [node for node in nodes if _declares_function(node)]
        rest = [node for node in nodes if not _declares_function(node)]
        return tuple(made for node in (*first, *rest) for made in self.statement(node))

    def body(self, node: Node | None) -> tuple[ir.Stmt, ...]:
        """Of a block, or of the one statement that stands for it."""
        if node is None:
            return ()
        return self.block(node.named_children if node.type == "statement_block" else [node])

    def statement(self, node: Node) -> Iterator[ir.Stmt]:
        """None for what carries no value, such as types."""
        at = self._lowerer.at(node)
        field = node.child_by_field_name
        match node.type:
            case "lexical_declaration" | "variable_declaration":
                for each in node.named_children:
                    yield from self._declarator(each)
            case "expression_statement":
                for each in node.named_children:
                    yield from self._effect(each)
            case "return_statement":
                value = first(node)
                yield ir.Return(
                    at, ir.Const(at) if value is None else self._lowerer.expressions.expr(value)
                )
            case "function_declaration" | "generator_function_declaration":
                function = self._lowerer.functions.function(node)
                yield ir.Assign(at, ir.Name(at, function.name), function)
            case "class_declaration" | "abstract_class_declaration":
                yield self._lowerer.classes.lower(node)
            case "if_statement":
                yield from self._run(field("condition"))
                other = field("alternative")
                then = self.body(field("consequence"))
                yield ir.Branch(at, (then, self.body(first(other) if other else None)))
            case "for_in_statement":
                left, right = field("left"), field("right")
                if left is None or right is None:
                    return
                over = self._lowerer.expressions.expr(right)
                operator = field("operator")
                if operator is not None and text(operator) == "in":
                    keys = ir.Attr(at, ir.Name(at, "Object"), "keys")
                    over = ir.Call(at, keys, (over,))
                yield ir.Loop(
                    at, self.body(field("body")), self._lowerer.expressions.expr(left), over
                )
            case "for_statement":
                start = field("initializer")
                yield from self.statement(start) if start is not None else ()
                yield ir.Loop(at, self.body(field("body")))
            case "while_statement" | "do_statement":
                yield from self._run(field("condition"))
                yield ir.Loop(at, self.body(field("body")))
            case "try_statement":
                yield from self.body(field("body"))
                handler = field("handler")
                if handler is not None:
                    caught = self.body(handler.child_by_field_name("body"))
                    yield ir.Branch(at, ((), caught))
                final = field("finalizer")
                yield from self.body(final.child_by_field_name("body") if final else None)
            case "switch_statement":
                yield from self._run(field("value"))
                cases = field("body")
                bodies = tuple(
                    self.block(child for child in case.named_children[1:])
                    if case.type == "switch_case"
                    else self.block(case.named_children)
                    for case in (cases.named_children if cases else ())
                )
                yield ir.Branch(at, ((), *bodies))
            case "statement_block":
                yield from self.block(node.named_children)
            case "labeled_statement":
                yield from self.body(field("body"))
            case "import_statement":
                yield from self._lowerer.modules.imported(node)
            case "export_statement":
                yield from self._lowerer.modules.exported(node)
            case "throw_statement":
                yield from self._run(first(node))
            case "internal_module" | "module":
                yield from self.body(field("body"))
            case _:
                return

    def _run(self, node: Node | None) -> Iterator[ir.Stmt]:
        if node is not None:
            yield ir.Run(self._lowerer.at(node), self._lowerer.expressions.expr(node))

    def _effect(self, node: Node) -> Iterator[ir.Stmt]:
        at = self._lowerer.at(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "augmented_assignment_expression" and left and right:
            operator = node.child_by_field_name("operator")
            op = "" if operator is None else text(operator).removesuffix("=")
            yield ir.Grow(
                at, self._lowerer.expressions.expr(left), op, self._lowerer.expressions.expr(right)
            )
        elif node.type == "update_expression":
            target = node.child_by_field_name("argument")
            if target is not None:
                yield ir.Grow(at, self._lowerer.expressions.expr(target), "+", ir.Const(at, 1))
        elif node.type == "assignment_expression" and left and right:
            yield from self._assigned(left, right, at)
        else:
            yield ir.Run(at, self._lowerer.expressions.expr(node))

    def _assigned(self, left: Node, right: Node, at: ir.At) -> Iterator[ir.Stmt]:
        name = text(left)
        value = self._lowerer.expressions.expr(right)
        if name == "module.exports" and isinstance(value, ir.Entries):
            for key, inner in value.entries:
                if isinstance(key, ir.Const) and isinstance(inner, ir.Name):
                    self._lowerer.exports[str(key.value)] = inner.id
        elif name.startswith(("exports.", "module.exports.")):
            exported = name.rsplit(".", 1)[-1]
            yield ir.Assign(at, ir.Name(at, exported), value)
        else:
            yield ir.Run(at, ir.Bind(at, self._lowerer.expressions.expr(left), value))

    def _declarator(self, node: Node) -> Iterator[ir.Stmt]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            if name is not None:
                yield ir.Assign(
                    self._lowerer.at(node),
                    self._lowerer.expressions.expr(name),
                    ir.Const(self._lowerer.at(node)),
                )
            return
        module = required(value)
        if module is not None:
            yield from self._lowerer.modules.required(name, module)
            return
        yield ir.Assign(
            self._lowerer.at(node),
            self._lowerer.expressions.expr(name),
            self._lowerer.expressions.expr(value),
        )


def _declares_function(node: Node) -> bool:
    inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
    return inner is not None and inner.type.endswith("function_declaration")
