"""Python to the small language."""

import ast
from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal

from headstart.insight.lint_code import ir

_PRINTERS = {"__str__", "__repr__", "__format__"}


def lower(path: str, source: str) -> ir.Module:
    """Raises SyntaxError, or ValueError for null bytes."""
    tree = ast.parse(source, path)
    lines = tuple(source.splitlines())
    pure = PurePath(path).with_suffix("")
    parts = pure.parts[:-1] if pure.name == "__init__" else pure.parts
    lowerer = _Lowerer(lines, parts if pure.name == "__init__" else parts[:-1])
    body = lowerer.block(tree.body)
    return ir.Module(path, ".".join(parts), "python", lines, body)


class _Lowerer:
    def __init__(self, lines: tuple[str, ...], package: tuple[str, ...]) -> None:
        self._lines = lines
        self._package = package

    def at(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg) -> ir.At:
        line = self._lines[node.lineno - 1] if node.lineno <= len(self._lines) else ""
        if line.isascii():
            return ir.At(node.lineno, min(node.col_offset, len(line)) + 1)
        column = len(line.encode()[: node.col_offset].decode(errors="ignore"))
        return ir.At(node.lineno, column + 1)

    def block(self, body: Iterable[ast.stmt]) -> tuple[ir.Stmt, ...]:
        return tuple(lowered for node in body for lowered in self.statement(node))

    def statement(self, node: ast.stmt) -> Iterable[ir.Stmt]:
        at = self.at(node)
        match node:
            case ast.Assign():
                value = self.expr(node.value)
                yield from (ir.Assign(at, self.expr(target), value) for target in node.targets)
            case ast.AnnAssign(value=ast.expr() as value):
                yield ir.Assign(at, self.expr(node.target), self.expr(value))
            case ast.AnnAssign(annotation=ast.Subscript(slice=ast.Tuple(elts=[_, *notes]))) if (
                _last_name(node.annotation) == "Annotated"
            ):
                yield from (
                    ir.Assign(at, self.expr(node.target), self.expr(each))
                    for each in notes
                    if isinstance(each, ast.Call)
                )
            case ast.AugAssign():
                op = "+" if isinstance(node.op, ast.Add) else type(node.op).__name__
                yield ir.Grow(at, self.expr(node.target), op, self.expr(node.value))
            case ast.Return(value=value):
                yield ir.Return(at, ir.Const(at) if value is None else self.expr(value))
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                yield ir.Return(at, self.expr(value), many=True)
            case ast.Expr(value=ast.YieldFrom(value=value)):
                yield ir.Return(at, ir.Spread(at, self.expr(value)), many=True)
            case ast.Expr():
                yield ir.Run(at, self.expr(node.value))
            case ast.If():
                yield ir.Run(at, self.expr(node.test))
                yield ir.Branch(at, (self.block(node.body), self.block(node.orelse)))
            case ast.For() | ast.AsyncFor():
                target, over = self.expr(node.target), self.expr(node.iter)
                yield ir.Loop(at, self.block(node.body), target, over)
                yield from self.block(node.orelse)
            case ast.While():
                yield ir.Run(at, self.expr(node.test))
                yield ir.Loop(at, self.block(node.body))
                yield from self.block(node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    value = self.expr(item.context_expr)
                    if item.optional_vars is None:
                        yield ir.Run(at, value)
                    else:
                        yield ir.Assign(at, self.expr(item.optional_vars), value)
                yield from self.block(node.body)
            case ast.Try() | ast.TryStar():
                yield from self.block(node.body)
                yield ir.Branch(at, ((), *(self.block(each.body) for each in node.handlers)))
                yield from self.block([*node.orelse, *node.finalbody])
            case ast.Match():
                yield ir.Run(at, self.expr(node.subject))
                yield ir.Branch(at, ((), *(self.block(case.body) for case in node.cases)))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield ir.Assign(at, ir.Name(at, node.name), self._function(node))
            case ast.ClassDef():
                yield self._class(node)
            case ast.Import():
                for name in node.names:
                    if name.asname is None:
                        top = name.name.partition(".")[0]
                        yield ir.Import(at, top, top)
                    else:
                        yield ir.Import(at, name.asname, name.name)
            case ast.ImportFrom():
                module = self._absolute(node)
                for name in node.names:
                    yield ir.Import(at, name.asname or name.name, module, name.name)
            case ast.Global() | ast.Nonlocal():
                yield ir.Outer(at, frozenset(node.names))
            case ast.Assert():
                yield ir.Run(at, self.expr(node.test))
            case _:
                return

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        base = self._package[: len(self._package) - node.level + 1]
        return ".".join((*base, *filter(None, (node.module,))))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.Function:
        decorators = frozenset(_last_name(each) for each in node.decorator_list)
        params = self._params(node.args)
        return ir.Function(self.at(node), node.name, params, self.block(node.body), decorators)

    def _params(self, args: ast.arguments) -> tuple[ir.Param, ...]:
        plain = [*args.posonlyargs, *args.args]
        missing = [None] * (len(plain) - len(args.defaults))
        params = [
            self._param(arg, default)
            for arg, default in zip(plain, [*missing, *args.defaults], strict=True)
        ]
        if args.vararg:
            params.append(ir.Param(args.vararg.arg, kind="rest"))
        pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        params += [self._param(arg, default, "named") for arg, default in pairs]
        if args.kwarg:
            params.append(ir.Param(args.kwarg.arg, kind="named_rest"))
        return tuple(params)

    def _param(
        self, arg: ast.arg, default: ast.expr | None, kind: Literal["plain", "named"] = "plain"
    ) -> ir.Param:
        value = None if default is None else self.expr(default)
        named = _type_named(arg.annotation)
        annotation = None if named is None else self.expr(named)
        return ir.Param(arg.arg, value, kind, _is_set(arg.annotation), annotation)

    def _class(self, node: ast.ClassDef) -> ir.Class:
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        # Decorators and bases may bring a text of their own: dataclasses, models, enums.
        prints = bool(node.decorator_list or node.bases or methods & _PRINTERS)
        bases = tuple(self.expr(base) for base in node.bases)
        return ir.Class(self.at(node), node.name, bases, self.block(node.body), prints)

    def expr(self, node: ast.expr) -> ir.Expr:
        at = self.at(node)
        match node:
            case ast.Constant(value=str() | int() | float() as value):
                return ir.Const(at, value)
            case ast.Name():
                return ir.Name(at, node.id)
            case ast.Attribute():
                return ir.Attr(at, self.expr(node.value), node.attr)
            case ast.Subscript():
                key = None if isinstance(node.slice, ast.Slice) else self.expr(node.slice)
                return ir.Index(at, self.expr(node.value), key)
            case ast.Starred():
                return ir.Spread(at, self.expr(node.value))
            case ast.Call():
                args = tuple(self.expr(arg) for arg in node.args)
                named = tuple((each.arg or "", self.expr(each.value)) for each in node.keywords)
                return ir.Call(at, self.expr(node.func), args, named)
            case ast.JoinedStr():
                return ir.Joined(at, tuple(self.expr(value) for value in node.values))
            case ast.FormattedValue():
                return ir.Joined(at, (self._formatted(node, at),))
            case ast.BinOp():
                ops = {ast.Add: "+", ast.Mod: "%", ast.BitOr: "|"}
                op = ops.get(type(node.op), type(node.op).__name__)
                return ir.Binary(at, op, self.expr(node.left), self.expr(node.right))
            case ast.List() | ast.Tuple():
                return ir.Items(at, "list", tuple(self.expr(each) for each in node.elts))
            case ast.Set():
                return ir.Items(at, "set", tuple(self.expr(each) for each in node.elts))
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return ir.Entries(
                    at, tuple((None if k is None else self.expr(k), self.expr(v)) for k, v in pairs)
                )
            case ast.ListComp() | ast.GeneratorExp():
                return ir.Each(at, "list", self._loops(node.generators), self.expr(node.elt))
            case ast.SetComp():
                return ir.Each(at, "set", self._loops(node.generators), self.expr(node.elt))
            case ast.DictComp():
                loops, element = self._loops(node.generators), self.expr(node.value)
                return ir.Each(at, "dict", loops, element, self.expr(node.key))
            case ast.IfExp():
                test = ir.Opaque(at, (self.expr(node.test),))
                return ir.Either(at, (test, self.expr(node.body), self.expr(node.orelse)))
            case ast.BoolOp():
                return ir.Either(at, tuple(self.expr(value) for value in node.values))
            case ast.NamedExpr():
                return ir.Bind(at, self.expr(node.target), self.expr(node.value))
            case ast.Lambda():
                body = (ir.Return(at, self.expr(node.body)),)
                return ir.Function(at, "<lambda>", self._params(node.args), body)
            case ast.Await(value=value) | ast.UnaryOp(op=ast.USub(), operand=value):
                return self.expr(value)
            case ast.Yield(value=ast.expr() as value):
                return self.expr(value)
            case ast.UnaryOp(operand=value):
                return ir.Opaque(at, (self.expr(value),))
            case ast.Compare():
                return ir.Opaque(at, tuple(map(self.expr, (node.left, *node.comparators))))
            case _:
                return ir.Const(at)

    def _formatted(self, node: ast.FormattedValue, at: ir.At) -> ir.Expr:
        """`{now:%Y-%m-%d}` is what strftime makes of it."""
        value = self.expr(node.value)
        match node.format_spec:
            case ast.JoinedStr(values=[ast.Constant(value=str() as spec)]) if "%" in spec[:1]:
                return ir.Call(at, ir.Attr(at, value, "strftime"), (ir.Const(at, spec),))
            case _:
                return value

    def _loops(self, generators: list[ast.comprehension]) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
        return tuple((self.expr(each.target), self.expr(each.iter)) for each in generators)


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=func):
            return _last_name(func)
        case ast.Subscript(value=value):
            return _last_name(value)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _type_named(annotation: ast.expr | None) -> ast.Name | ast.Attribute | None:
    """`T` of `T`, `"T"`, `T | None`, `Optional[T]` and `Annotated[T, ...]`."""
    match annotation:
        case ast.Name() | ast.Attribute():
            return annotation
        case ast.Constant(value=str() as name) if name.isidentifier():
            return ast.copy_location(ast.Name(name), annotation)
        case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
            return _type_named(left)
        case ast.Subscript(slice=ast.Tuple(elts=[of, *_])) | ast.Subscript(slice=of) if _last_name(
            annotation
        ) in {"Optional", "Annotated"}:
            return _type_named(of)
        case _:
            return None


def _is_set(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.Subscript(value=value):
            return _is_set(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in {"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"}
        case _:
            return False
