"""What is read from tree-sitter's nodes."""

from tree_sitter import Node

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def text(node: Node) -> str:
    """Its source."""
    return (node.text or b"").decode(errors="replace")


def first(node: Node) -> Node | None:
    """The first child that is no comment."""
    return next((child for child in node.named_children if child.type != "comment"), None)


def first_error(node: Node) -> Node | None:
    """The first place that can't be read as code."""
    if not node.has_error:
        return None
    if node.is_error or node.is_missing:
        return node
    return next((found for child in node.children if (found := first_error(child))), node)


def required(node: Node) -> str | None:
    """The module of `require("...")`."""
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or given is None:
        return None
    strings = [child for child in given.named_children if child.type == "string"]
    return unescaped(strings[0]) if text(function) == "require" and strings else None


def unescaped(node: Node) -> str:
    """The text of a string, as it is when the program runs."""
    parts = []
    for child in node.named_children:
        raw = text(child)
        parts.append(_ESCAPES.get(raw[1:], raw[1:]) if child.type == "escape_sequence" else raw)
    return "".join(parts)
