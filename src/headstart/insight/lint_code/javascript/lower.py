"""JavaScript and TypeScript to the small language, from tree-sitter's trees."""

from pathlib import PurePosixPath

from tree_sitter import Node

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.javascript.classes import Classes
from headstart.insight.lint_code.javascript.expressions import Expressions
from headstart.insight.lint_code.javascript.functions import Functions
from headstart.insight.lint_code.javascript.grammars import parser
from headstart.insight.lint_code.javascript.modules import Modules
from headstart.insight.lint_code.javascript.nodes import first_error
from headstart.insight.lint_code.javascript.statements import Statements


def lower(path: str, source: str) -> ir.Module:
    """Raises SyntaxError where nothing of the file can be read as code."""
    ending = path.rsplit(".", 1)[-1]
    tree = parser(ending).parse(source.encode())
    broken = first_error(tree.root_node)
    if broken is not None:
        raise SyntaxError("invalid syntax", (path, broken.start_point[0] + 1, 1, None))
    lines = tuple(source.splitlines())
    name = str(PurePosixPath(path).with_suffix("")).removesuffix("/index").replace("/", ".")
    lowerer = Lowerer(lines, str(PurePosixPath(path).parent))
    body = lowerer.statements.block(tree.root_node.named_children)
    return ir.Module(path, name, "javascript", lines, body, lowerer.exports)


class Lowerer:
    """Of one file: its parts, and what they share."""

    def __init__(self, lines: tuple[str, ...], directory: str) -> None:
        self._lines = lines
        self.directory = directory
        self.exports: dict[str, str] = {}
        self.expressions = Expressions(self)
        self.functions = Functions(self)
        self.statements = Statements(self)
        self.classes = Classes(self)
        self.modules = Modules(self)

    def at(self, node: Node) -> ir.At:
        """Where it begins."""
        row, column = node.start_point
        line = self._lines[row] if row < len(self._lines) else ""
        if line.isascii():
            return ir.At(row + 1, min(column, len(line)) + 1)
        return ir.At(row + 1, len(line.encode()[:column].decode(errors="ignore")) + 1)
