"""The prefix tree as it is now, for people and pictures."""

from dataclasses import dataclass
from heapq import nlargest

from headstart.cache.events import Stored
from headstart.cache.keys import TOKEN_BYTES
from headstart.cache.node import Node
from headstart.cache.tree import Tree, below


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node: tokens that follow one another and share their fate."""

    id: int
    parent: int | None
    """None where a namespace begins, or where the parent is not in this picture."""
    tenant: str
    begin: int
    """Tokens before it."""
    tokens: int
    subtree_tokens: int
    uses: int
    """Requests that reused it."""
    idle_seconds: float
    held: bool
    """By a running request."""
    pinned: bool


def snapshot(tree: Tree, tenant: str | None, nodes: int) -> list[TreeNode]:
    """The `nodes` nodes with the most tokens in and below them, parents before children."""
    found: list[tuple[Node, str]] = []
    for name, roots in tree.tenants.items():
        if tenant is None or tenant == name:
            found += [(node, name) for root in roots.values() for node in below(root)]
    size = tree.block_size
    totals: dict[Node, int] = {}
    for node, _ in reversed(found):
        totals[node] = _tokens(node) + sum(totals[child] for child in node.children)
    kept = nlargest(nodes, range(len(found)), key=lambda at: (totals[found[at][0]], -at))
    ids = {found[at][0]: number for number, at in enumerate(sorted(kept))}
    return [
        TreeNode(
            id=number,
            parent=None if node.parent is None else ids.get(node.parent),
            tenant=name,
            begin=node.start * size,
            tokens=_tokens(node),
            subtree_tokens=totals[node],
            uses=node.uses,
            idle_seconds=0.0 if node.holders else max(0.0, tree.now() - node.used),
            held=node.holders > 0,
            pinned=node.pins > 0,
        )
        for number, (node, name) in enumerate(found[at] for at in sorted(kept))
    ]


def by_last_use(tree: Tree) -> list[Node]:
    """Roots and all nodes of full blocks, the one used last first, parents before their children.

    Only while nothing is held: then no parent was used less recently than its children.
    """
    roots = tree.roots.values()
    nodes = [node for root in roots for node in (root, *below(root)) if not node.tail]
    return sorted(nodes, key=lambda node: (-node.used, node.start))


def stored(tree: Tree) -> list[Stored]:
    """Every findable full block, as the events that would tell of it."""
    return [
        Stored(
            root.namespace,
            node.block_before(node.start),
            list(node.keys),
            bytes(node.label),
            node.behind_gate(node.start),
        )
        for root in tree.roots.values()
        for node in below(root)
        if not node.tail
    ]


def _tokens(node: Node) -> int:
    return len(node.label) // TOKEN_BYTES
