"""The cache's books, done again from scratch."""

from collections import Counter
from collections.abc import Iterable

from headstart.cache.errors import check
from headstart.cache.keys import BlockKey, block_keys
from headstart.cache.lease import Announcement, Lease
from headstart.cache.node import Node, Root, path_to
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
    left = _stale_roots(leases, generation)
    stale = [node for root in left for node in below(root)]
    ends = Counter(lease.tail or lease.node for lease in leases)
    gates = Counter(root.parent for root in tree.roots.values() if root.parent is not None)
    for root in [*tree.roots.values(), *left]:
        if root.parent is not None and root.holders:
            ends[root.parent] += 1
    for root in tree.roots.values():
        check(bool(len(root.children) or root.holders), None, "a root nobody needs")
        check(not root.blocks, root, "a root with blocks")
        _audit_gate(root)
        _audit_holders(root, ends)
    for node in nodes:
        check(node.gates == gates[node], node, f"{node.gates} gates counted")
    for node in [*nodes, *stale]:
        _audit_node(node, tree)
        _audit_holders(node, ends)
    for key, root in tree.roots.items():
        _audit_keys(key, root, tree.block_size)
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


def _stale_roots(leases: list[Lease], generation: int) -> set[Root]:
    """Roots that only leases from before a reset know."""
    return {
        node
        for lease in leases
        if lease.generation != generation
        for node in path_to(lease.tail or lease.node)
        if isinstance(node, Root)
    }


def _audit_gate(root: Root) -> None:
    shared = root.parent
    end = 0 if shared is None else shared.end
    check(root.start == end, root, "a root at the wrong depth")
    if shared is not None:
        check(not shared.tail, root, "on a partly filled block")
        check(root not in shared.children, root, "a gate that others can pass")


def _audit_keys(key: BlockKey, root: Root, block_size: int) -> None:
    check(root.keys[:1] == [key], root, "not the root it is found as")
    shared = b"".join(bytes(node.label) for node in path_to(root))
    own = block_keys(key, shared, block_size)
    check(root.keys[1:] == own, root, "keys differ from those of what it stands on")


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
    idle = not (node.holders or len(node.children) or node.gates)
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
    for tenant in used.keys() | {pin.payer for pin in tree.retention.pins.values()}:
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
    path = path_to(lease.node)
    blocks = [block for node in path for block in node.blocks]
    check(lease.blocks[: lease.shared] == blocks, lease.node, "not what its lease reads")
    if lease.tail is not None:
        check(lease.tail.parent is lease.node, lease.tail, "not behind its lease's prefix")
        check(lease.blocks[lease.shared] == lease.tail.blocks[0], lease.tail, "not its lease's")
        path.append(lease.tail)
    if lease.generation != generation:
        return
    label = b"".join(bytes(node.label) for node in path)
    check(lease.chain.data.startswith(label), lease.node, "other tokens than its lease's")
    root = [node for node in path if isinstance(node, Root)][-1]
    mine = lease.chain if lease.shared >= lease.chain.border else lease.chain.shared
    own = mine is not None and root.keys[0] == mine.root
    check(own, root, "in another namespace than its lease")
