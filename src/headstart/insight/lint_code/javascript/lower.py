"""JavaScript and TypeScript to the small language, from tree-sitter's trees."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Literal

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from headstart.insight.lint_code import ir

GRAMMARS = {
    "ts": tree_sitter_typescript.language_typescript,
    "mts": tree_sitter_typescript.language_typescript,
    "cts": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "js": tree_sitter_javascript.language,
    "mjs": tree_sitter_javascript.language,
    "cjs": tree_sitter_javascript.language,
    "jsx": tree_sitter_javascript.language,
}
"""By the ending of the file."""

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
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def lower(path: str, source: str) -> ir.Module:
    """Raises SyntaxError where nothing of the file can be read as code."""
    ending = path.rsplit(".", 1)[-1]
    tree = _parser(ending).parse(source.encode())
    broken = _first_error(tree.root_node)
    if broken is not None:
        raise SyntaxError("invalid syntax", (path, broken.start_point[0] + 1, 1, None))
    lines = tuple(source.splitlines())
    name = str(PurePosixPath(path).with_suffix("")).removesuffix("/index").replace("/", ".")
    lowerer = _Lowerer(lines, str(PurePosixPath(path).parent))
    body = lowerer.block(tree.root_node.named_children)
    return ir.Module(path, name, "javascript", lines, body, lowerer.exports)


@cache
def _parser(ending: str) -> Parser:
    return Parser(Language(GRAMMARS[ending]()))


def _first_error(node: Node) -> Node | None:
    if not node.has_error:
        return None
    if node.is_error or node.is_missing:
        return node
    return next((found for child in node.children if (found := _first_error(child))), node)


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


class _Lowerer:
    def __init__(self, lines: tuple[str, ...], directory: str) -> None:
        self._lines = lines
        self._directory = directory
        self.exports: dict[str, str] = {}

    def at(self, node: Node) -> ir.At:
        row, column = node.start_point
        line = self._lines[row] if row < len(self._lines) else ""
        if line.isascii():
            return ir.At(row + 1, min(column, len(line)) + 1)
        return ir.At(row + 1, len(line.encode()[:column].decode(errors="ignore")) + 1)

    def block(self, nodes: Iterable[Node]) -> tuple[ir.Stmt, ...]:
        """Functions are bound before anything else runs, as they are in JavaScript."""
        nodes = list(nodes)
        first = [node for node in nodes if _declares_function(node)]
        rest = [node for node in nodes if not _declares_function(node)]
        return tuple(made for node in (*first, *rest) for made in self.statement(node))

    def body(self, node: Node | None) -> tuple[ir.Stmt, ...]:
        if node is None:
            return ()
        return self.block(node.named_children if node.type == "statement_block" else [node])

    # Statements

    def statement(self, node: Node) -> Iterator[ir.Stmt]:
        at = self.at(node)
        field = node.child_by_field_name
        match node.type:
            case "lexical_declaration" | "variable_declaration":
                for each in node.named_children:
                    yield from self._declarator(each)
            case "expression_statement":
                for each in node.named_children:
                    yield from self._effect(each)
            case "return_statement":
                value = self._first(node)
                yield ir.Return(at, ir.Const(at) if value is None else self.expr(value))
            case "function_declaration" | "generator_function_declaration":
                function = self.function(node)
                yield ir.Assign(at, ir.Name(at, function.name), function)
            case "class_declaration" | "abstract_class_declaration":
                yield self._class(node)
            case "if_statement":
                yield from self._run(field("condition"))
                other = field("alternative")
                then = self.body(field("consequence"))
                yield ir.Branch(at, (then, self.body(self._first(other) if other else None)))
            case "for_in_statement":
                left, right = field("left"), field("right")
                if left is None or right is None:
                    return
                over = self.expr(right)
                operator = field("operator")
                if operator is not None and _text(operator) == "in":
                    keys = ir.Attr(at, ir.Name(at, "Object"), "keys")
                    over = ir.Call(at, keys, (over,))
                yield ir.Loop(at, self.body(field("body")), self.expr(left), over)
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
                yield from self._import(node)
            case "export_statement":
                yield from self._export(node)
            case "throw_statement":
                yield from self._run(self._first(node))
            case "internal_module" | "module":
                yield from self.body(field("body"))
            case _:
                return

    def _run(self, node: Node | None) -> Iterator[ir.Stmt]:
        if node is not None:
            yield ir.Run(self.at(node), self.expr(node))

    def _effect(self, node: Node) -> Iterator[ir.Stmt]:
        at = self.at(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "augmented_assignment_expression" and left and right:
            operator = node.child_by_field_name("operator")
            op = "" if operator is None else _text(operator).removesuffix("=")
            yield ir.Grow(at, self.expr(left), op, self.expr(right))
        elif node.type == "update_expression":
            target = node.child_by_field_name("argument")
            if target is not None:
                yield ir.Grow(at, self.expr(target), "+", ir.Const(at, 1))
        elif node.type == "assignment_expression" and left and right:
            yield from self._assigned(left, right, at)
        else:
            yield ir.Run(at, self.expr(node))

    def _assigned(self, left: Node, right: Node, at: ir.At) -> Iterator[ir.Stmt]:
        name = _text(left)
        value = self.expr(right)
        if name == "module.exports" and isinstance(value, ir.Entries):
            for key, inner in value.entries:
                if isinstance(key, ir.Const) and isinstance(inner, ir.Name):
                    self.exports[str(key.value)] = inner.id
        elif name.startswith(("exports.", "module.exports.")):
            exported = name.rsplit(".", 1)[-1]
            yield ir.Assign(at, ir.Name(at, exported), value)
        else:
            yield ir.Run(at, ir.Bind(at, self.expr(left), value))

    def _declarator(self, node: Node) -> Iterator[ir.Stmt]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            if name is not None:
                yield ir.Assign(self.at(node), self.expr(name), ir.Const(self.at(node)))
            return
        required = _required(value)
        if required is not None:
            yield from self._required(name, required)
            return
        yield ir.Assign(self.at(node), self.expr(name), self.expr(value))

    def _required(self, name: Node, module: str) -> Iterator[ir.Stmt]:
        at = self.at(name)
        if name.type == "identifier":
            yield ir.Import(at, _text(name), self._module(module))
            return
        for each in name.named_children:
            member = _text(each.named_children[0] if each.named_children else each)
            bound = _text(each.named_children[-1] if each.named_children else each)
            yield ir.Import(at, bound, self._module(module), member)

    def _class(self, node: Node) -> ir.Class:
        at = self.at(node)
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        bases = [
            self.expr(base)
            for child in node.named_children
            if child.type == "class_heritage"
            for base in _extended(child)
        ]
        made: list[ir.Stmt] = []
        own: list[ir.Stmt] = []
        for member in body.named_children if body else ():
            key = member.child_by_field_name("name")
            if member.type == "method_definition":
                function = self.function(member)
                made.append(
                    ir.Assign(self.at(member), ir.Name(self.at(member), function.name), function)
                )
            elif member.type in {"public_field_definition", "field_definition"}:
                key = key or member.child_by_field_name("property")
                value = member.child_by_field_name("value")
                if key is not None and value is not None:
                    where = self.at(member)
                    own.append(ir.Assign(where, ir.Name(where, _text(key)), self.expr(value)))
        return ir.Class(at, _text(name) if name else "", tuple(bases), (*own, *made), prints=True)

    def _import(self, node: Node) -> Iterator[ir.Stmt]:
        source = node.child_by_field_name("source")
        if source is None:
            return
        module, at = self._module(_text(source).strip("'\"`")), self.at(node)
        clause = next(
            (child for child in node.named_children if child.type == "import_clause"), None
        )
        for child in clause.named_children if clause else ():
            match child.type:
                case "identifier":
                    yield ir.Import(at, _text(child), module, "default")
                case "namespace_import":
                    yield ir.Import(at, _text(child.named_children[0]), module)
                case "named_imports":
                    for each in child.named_children:
                        name, alias = (each.child_by_field_name(f) for f in ("name", "alias"))
                        if name is not None:
                            yield ir.Import(at, _text(alias or name), module, _text(name))

    def _export(self, node: Node) -> Iterator[ir.Stmt]:
        declared = node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        source = node.child_by_field_name("source")
        default = any(child.type == "default" for child in node.children)
        at = self.at(node)
        if declared is not None:
            yield from self.statement(declared)
            name = declared.child_by_field_name("name")
            if default and name is not None:
                self.exports["default"] = _text(name)
        elif value is not None:
            yield ir.Assign(at, ir.Name(at, "default"), self.expr(value))
        for clause in node.named_children:
            if clause.type != "export_clause":
                continue
            for each in clause.named_children:
                name, alias = (each.child_by_field_name(f) for f in ("name", "alias"))
                if name is None:
                    continue
                self.exports[_text(alias or name)] = _text(name)
                if source is not None:
                    module = self._module(_text(source).strip("'\"`"))
                    yield ir.Import(at, _text(name), module, _text(name))

    def _module(self, name: str) -> str:
        if name.startswith("."):
            path = normpath(f"{self._directory}/{name}")
        elif name.startswith(("@/", "~/", "#/")):
            path = name[2:]
        else:
            return name.removeprefix("node:")
        for ending in GRAMMARS:
            path = path.removesuffix(f".{ending}")
        return path.removesuffix("/index").replace("/", ".")

    # Expressions

    def expr(self, node: Node) -> ir.Expr:
        at = self.at(node)
        field = node.child_by_field_name
        match node.type:
            case "string":
                return ir.Const(at, _unescaped(node))
            case "number":
                digits = _text(node)
                return ir.Const(at, int(digits) if digits.isdecimal() else 0.0)
            case "template_string":
                return ir.Joined(at, tuple(self._template_part(c) for c in node.named_children))
            case "identifier" | "shorthand_property_identifier" | "this" | "super":
                return ir.Name(at, _text(node))
            case "shorthand_property_identifier_pattern" | "property_identifier":
                return ir.Name(at, _text(node))
            case "member_expression":
                of, name = field("object"), field("property")
                return ir.Attr(at, self._of(of, at), _text(name) if name else "")
            case "subscript_expression":
                of, key = field("object"), field("index")
                return ir.Index(at, self._of(of, at), self._of(key, at))
            case "call_expression" | "new_expression":
                return self._call(node)
            case "object" | "object_pattern":
                return self._object(node)
            case "array" | "array_pattern":
                return ir.Items(at, "list", tuple(self.expr(c) for c in node.named_children))
            case "spread_element" | "rest_pattern":
                inner = self._first(node)
                return ir.Spread(at, self._of(inner, at))
            case "binary_expression":
                return self._binary(node)
            case "ternary_expression":
                test = ir.Opaque(at, (self._of(field("condition"), at),))
                options = (self._of(field("consequence"), at), self._of(field("alternative"), at))
                return ir.Either(at, (test, *options))
            case "assignment_expression":
                return ir.Bind(at, self._of(field("left"), at), self._of(field("right"), at))
            case "assignment_pattern" | "object_assignment_pattern":
                return ir.Bind(at, self._of(field("left"), at), self._of(field("right"), at))
            case "augmented_assignment_expression":
                left, right = self._of(field("left"), at), self._of(field("right"), at)
                return ir.Bind(at, left, ir.Binary(at, "+", left, right))
            case "unary_expression":
                operator = field("operator")
                value = self._of(field("argument"), at)
                keeps = operator is not None and _text(operator) in "+-"
                return value if keeps else ir.Opaque(at, (value,))
            case "update_expression":
                return self._of(field("argument"), at)
            case "sequence_expression":
                parts = tuple(self.expr(child) for child in node.named_children)
                return parts[-1] if parts else ir.Const(at)
            case "yield_expression":
                return self._of(self._first(node), at)
            case "jsx_element" | "jsx_self_closing_element" | "jsx_fragment":
                return ir.Opaque(at, tuple(self._inside(node)))
            case "jsx_expression":
                return self._of(self._first(node), at)
            case kind if kind in _FUNCTIONS:
                return self.function(node)
            case kind if kind in _TRANSPARENT:
                return self._of(self._first(node), at)
            case _:
                return ir.Const(at)

    def _of(self, node: Node | None, at: ir.At) -> ir.Expr:
        return ir.Const(at) if node is None else self.expr(node)

    def _first(self, node: Node) -> Node | None:
        return next((child for child in node.named_children if child.type != "comment"), None)

    def _inside(self, node: Node) -> Iterator[ir.Expr]:
        for child in node.named_children:
            if child.type == "jsx_expression":
                yield self.expr(child)
            else:
                yield from self._inside(child)

    def _template_part(self, node: Node) -> ir.Expr:
        if node.type == "template_substitution":
            return self._of(self._first(node), self.at(node))
        return ir.Const(self.at(node), _text(node))

    def _call(self, node: Node) -> ir.Expr:
        at = self.at(node)
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
        return ir.Call(at, self._of(callee, at), args, new=new)

    def _object(self, node: Node) -> ir.Expr:
        at = self.at(node)
        entries: list[tuple[ir.Expr | None, ir.Expr]] = []
        for child in node.named_children:
            where = self.at(child)
            match child.type:
                case "pair" | "pair_pattern":
                    key, value = (
                        child.child_by_field_name("key"),
                        child.child_by_field_name("value"),
                    )
                    entries.append((self._key(key, where), self._of(value, where)))
                case "shorthand_property_identifier" | "shorthand_property_identifier_pattern":
                    name = _text(child)
                    entries.append((ir.Const(where, name), ir.Name(where, name)))
                case "object_assignment_pattern":
                    left = child.child_by_field_name("left")
                    name = _text(left) if left is not None else ""
                    entries.append((ir.Const(where, name), self.expr(child)))
                case "spread_element" | "rest_pattern":
                    entries.append((None, self._of(self._first(child), where)))
                case "method_definition":
                    function = self.function(child)
                    entries.append((ir.Const(where, function.name), function))
        return ir.Entries(at, tuple(entries))

    def _key(self, node: Node | None, at: ir.At) -> ir.Expr:
        if node is None:
            return ir.Const(at)
        if node.type == "computed_property_name":
            return self._of(self._first(node), at)
        return ir.Const(at, _text(node).strip("'\""))

    def _binary(self, node: Node) -> ir.Expr:
        at = self.at(node)
        left, right, operator = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        op = "" if operator is None else _text(operator)
        sides = (self._of(left, at), self._of(right, at))
        if op in _COMPARISONS:
            return ir.Opaque(at, sides)
        if op in {"||", "??"}:
            return ir.Either(at, sides)
        if op == "&&":
            return ir.Either(at, (ir.Opaque(at, sides[:1]), sides[1]))
        return ir.Binary(at, "+" if op == "+" else f"number {op}", *sides)

    def function(self, node: Node) -> ir.Function:
        at = self.at(node)
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        single = node.child_by_field_name("parameter")
        given = node.child_by_field_name("parameters")
        nodes = [single] if single is not None else given.named_children if given else []
        params = tuple(self._param(each) for each in nodes if each.type != "comment")
        if body is not None and body.type != "statement_block":
            inner: tuple[ir.Stmt, ...] = (ir.Return(self.at(body), self.expr(body)),)
        else:
            inner = self.body(body)
        words = {_text(child) for child in node.children if child.type in {"get", "static"}}
        marks = {"staticmethod" if word == "static" else word for word in words}
        return ir.Function(at, _text(name) if name else "", params, inner, frozenset(marks))

    def _param(self, node: Node) -> ir.Param:
        kind: Literal["plain", "rest"] = "plain"
        default: ir.Expr | None = None
        if node.type in {"required_parameter", "optional_parameter"}:
            value = node.child_by_field_name("value")
            default = None if value is None else self.expr(value)
            node = node.child_by_field_name("pattern") or node
        if node.type == "assignment_pattern":
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            default = None if right is None else self.expr(right)
            node = left or node
        if node.type == "rest_pattern":
            kind = "rest"
            node = self._first(node) or node
        if node.type in {"object_pattern", "array_pattern"}:
            return ir.Param("", default, kind, target=self.expr(node))
        return ir.Param(_text(node), default, kind)


def _declares_function(node: Node) -> bool:
    inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
    return inner is not None and inner.type.endswith("function_declaration")


def _required(node: Node) -> str | None:
    """The module of `require("...")`."""
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or given is None:
        return None
    strings = [child for child in given.named_children if child.type == "string"]
    return _unescaped(strings[0]) if _text(function) == "require" and strings else None


def _extended(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "extends_clause":
            yield from child.named_children[:1]
        elif child.type == "identifier":
            yield child


def _unescaped(node: Node) -> str:
    parts = []
    for child in node.named_children:
        raw = _text(child)
        parts.append(_ESCAPES.get(raw[1:], raw[1:]) if child.type == "escape_sequence" else raw)
    return "".join(parts)
