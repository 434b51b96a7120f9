"""The cache's books, done again from scratch."""

from collections import Counter
from collections.abc import Iterable

from headstart.cache.errors import check
from headstart.cache.keys import block_keys
from headstart.cache.lease import Announcement, Lease
from headstart.cache.node import Node, blocks_to, path_to
from headstart.cache.pool import BlockId, BlockPool
from headstart.cache.tree import Tree, below


def audit(
    tree: Tree,
    pool: BlockPool,
    leases: Iterable[Lease],
    announced: "Counter[Announcement]",
    generation: int,
) -> None:
    """Raises CacheCorrupt naming the first thing that doesn't add up."""
    leases = list(leases)
    nodes = [node for root in tree.roots.values() for node in below(root)]
    stale = _stale_nodes(leases, generation)
    ends = Counter(lease.tail or lease.node for lease in leases)
    for root in tree.roots.values():
        check(bool(len(root.children) or root.holders), None, "a root nobody needs")
        check(root.parent is None and not root.blocks, root, "a root with blocks")
        _audit_holders(root, ends)
    for node in [*nodes, *stale]:
        _audit_node(node, tree)
        _audit_holders(node, ends)
    for node in stale:
        check(node.holders > 0, node, "kept from before a reset")
    _audit_owners([*nodes, *stale], leases, pool)
    for lease in leases:
        _audit_lease(lease, generation)
    idle = sum(len(node.blocks) for node in nodes if not node.holders)
    check(tree.cached == idle, None, f"cached count is off: {tree.cached}, not {idle}")
    _audit_pins(tree, nodes)
    tree.index.audit(nodes)
    current = Counter(lease.announcement for lease in leases if lease.announcement is not None)
    check(announced == current, None, "announcements differ from those of the leases")


def _stale_nodes(leases: list[Lease], generation: int) -> list[Node]:
    """Nodes that only leases from before a reset know."""
    tops: set[Node] = set()
    for lease in leases:
        if lease.generation == generation:
            continue
        top = lease.tail or lease.node
        while top.parent is not None:
            top = top.parent
        tops.add(top)
    return [node for top in tops for node in below(top)]


def _audit_node(node: Node, tree: Tree) -> None:
    width, parent = tree.width, node.parent
    check(parent is not None, node, "in the tree without a parent")
    assert parent is not None
    check(parent.children.get(bytes(node.label[:width])) is node, node, "not its parent's child")
    check(not parent.tail, node, "behind a partly filled block")
    check(node.start == parent.end, node, "at the wrong depth")
    if node.tail:
        check(len(node.blocks) == 1 and 0 < len(node.label) < width, node, "not a tail")
        check(not len(node.children), node, "a tail with children")
        others = [bytes(child.label[:width]) for child in parent.children if child is not node]
        covered = any(first.startswith(node.label) for first in others)
        check(bool(node.holders or node.pins) or not covered, node, "a tail of no use")
    else:
        check(len(node.label) == len(node.blocks) * width > 0, node, "label and blocks differ")
        expected = block_keys(parent.keys[-1], bytes(node.label), tree.block_size)
        check(node.keys == expected, node, "keys differ from its tokens")
    idle = not node.holders and not len(node.children)
    check(node.offered == idle, node, "wrongly (un)evictable")
    if not node.holders and not parent.holders and parent.parent is not None:
        check(parent.stamp >= node.stamp, node, "would outlive its parent")


def _audit_holders(node: Node, ends: "Counter[Node]") -> None:
    holders = ends[node] + sum(child.holders > 0 for child in node.children)
    check(node.holders == holders, node, f"{node.holders} holders counted, {holders} there")


def _audit_pins(tree: Tree, nodes: list[Node]) -> None:
    ends = Counter(pin.node for pin in tree.retention.pins.values())
    used = Counter[str]()
    for node in nodes:
        pins = ends[node] + sum(child.pins > 0 for child in node.children)
        check(node.pins == pins, node, f"{node.pins} pins counted, {pins} there")
    for tenant, roots in tree.tenants.items():
        for root in roots.values():
            check(tree.roots.get(root.keys[0]) is root, root, "another tenant's root")
            used[tenant] += sum(len(node.blocks) for node in below(root) if node.pins)
    for tenant in used.keys() | {pin.tenant for pin in tree.retention.pins.values()}:
        counted = tree.retention.used(tenant)
        check(counted == used[tenant], None, f"{counted} blocks counted as pinned")
        check(counted <= tree.retention.budget, None, "more is pinned than the budget allows")


def _audit_owners(nodes: list[Node], leases: list[Lease], pool: BlockPool) -> None:
    """Every block is free, in one node, or in one lease alone."""
    owners = Counter[BlockId]()
    for node in nodes:
        owners.update(node.blocks)
    for lease in leases:
        owners.update(lease.blocks[lease.shared + (lease.tail is not None) :])
    for number in range(pool.total):
        at = BlockId(number)
        check(owners[at] <= 1, at, "owned twice")
        check(pool.is_free(at) == (not owners[at]), at, "free and used at once, or neither")
    check(pool.free + owners.total() == pool.total, None, "blocks are lost")


def _audit_lease(lease: Lease, generation: int) -> None:
    check(lease.live, None, "a dead lease holds blocks")
    path = blocks_to(lease.node)
    check(lease.blocks[: lease.shared] == path, lease.node, "not what its lease reads")
    if lease.tail is not None:
        check(lease.tail.parent is lease.node, lease.tail, "not behind its lease's prefix")
        check(lease.blocks[lease.shared] == lease.tail.blocks[0], lease.tail, "not its lease's")
    if lease.generation == generation:
        label = b"".join(bytes(node.label) for node in path_to(lease.tail or lease.node))
        check(lease.chain.data.startswith(label), lease.node, "other tokens than its lease's")
