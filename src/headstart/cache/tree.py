"""The tree of everything findable: who holds it, what of it may go, and taking it down.

A node is *held* while a lease's prefix ends in it or below it. What is not held is *cached*: it is
given up when room is needed, leaves first, so a parent outlives its children.
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

from headstart.cache.events import Cleared, Event, Removed, Stored
from headstart.cache.ghosts import Cause, Ghost, Ghosts
from headstart.cache.index import PrefixIndex
from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain
from headstart.cache.node import Node, Root
from headstart.cache.policies import Policy
from headstart.cache.pool import BlockId, BlockPool
from headstart.cache.retention import OverBudget, Pin, Retention
from headstart.cache.visit import Visit


class Tree:
    """Nodes below the roots of all namespaces. Counts blocks; `audit` (audit.py) checks it."""

    def __init__(
        self,
        pool: BlockPool,
        block_size: int,
        index: PrefixIndex,
        policy: Policy,
        *,
        clock: Callable[[], float],
        ttl: float | None,
        ghosts: int,
        retention_budget: int,
    ) -> None:
        self.index = index
        self.policy = policy
        self.roots: dict[BlockKey, Root] = {}
        self.tenants: dict[str, dict[BlockKey, Root]] = {}
        """The same roots by tenant."""
        self.cached = 0
        """Blocks that are findable and not held."""
        self.evicted = 0
        self.ghosts = Ghosts(ghosts)
        self.events: list[Event] | None = None
        """Since they were last taken; None while nobody takes them."""
        self.retention = Retention(retention_budget)
        self.now = clock
        self._ttl = ttl
        self.leaving: Callable[[Node, int, int], None] | None = None
        """Told which blocks of a node's path are about to be given up, while they are whole."""
        self._idle: list[tuple[float, int, Node]] = []
        """A heap of leaves by their last use; only with a time to live."""
        self._entries = 0
        self._pool = pool
        self.block_size = block_size
        self.width = block_size * TOKEN_BYTES
        """Bytes of a full block's packed tokens."""
        self._serial = 0

    def root(self, chain: Chain) -> Root:
        """The root of a namespace; a new one is not in the tree before something holds it."""
        return self.roots.get(chain.root) or Root(chain.namespace, chain.root)

    def gate(self, chain: Chain, shared: Node) -> Root:
        """The same for what goes on behind the prefix it shares, which ends in `shared`."""
        keys = chain.keys(chain.border)[: chain.border]
        return self.roots.get(chain.root) or Root(chain.namespace, chain.root, shared, keys)

    def hold(self, node: Node) -> None:
        """One lease more ends in `node`. O(nodes that were not held before)."""
        at: Node | None = node
        while at is not None:
            at.holders += 1
            if at.holders > 1:
                return
            self.cached -= len(at.blocks)
            self._withdraw(at)
            if isinstance(at, Root):
                self._plant(at)
            at = at.parent

    def let_go(self, node: Node) -> None:
        """One lease less ends in `node`. What nobody holds any more is cached."""
        self._serial += 1
        at: Node | None = node
        while at is not None:
            at.holders -= 1
            if at.holders:
                return
            self.cached += len(at.blocks)
            self._used(at)
            at = at.parent

    def drop_stale(self, node: Node) -> None:
        """One lease less ends in `node`, which `clear` left to it. What nobody holds is freed."""
        at: Node | None = node
        while at is not None:
            at.holders -= 1
            if at.holders:
                return
            self._free(at.blocks)
            at = at.parent if isinstance(at, Root) else self._detach(at)

    def reuse(self, node: Node) -> None:
        """A request reuses the prefix that ends in `node`."""
        at: Node | None = node
        while at is not None:
            at.uses += 1
            at = at.parent
        if isinstance(node, Root) and node.parent is not None:
            node = node.parent
        idle = node.offered
        self._withdraw(node)
        self.policy.reused(node)
        if idle:
            self._offer(node)

    def refresh(self, chain: Chain, matched: int) -> None:
        """A request uses `matched` tokens: pins of them, or of fewer, start their time anew."""
        self.retention.refresh(chain, matched, self.now())

    def end(self, node: Node, visit: Visit) -> None:
        """A request whose prefix ends in `node` is over; called while it is held."""
        self.policy.ended(node, visit)

    def touch(self, node: Node) -> None:
        """Count the prefix that ends in `node` as used now."""
        self._serial += 1
        at: Node | None = node
        while at is not None and not at.holders:
            self._used(at)
            at = at.parent

    def cut(self, node: Node, depth: int) -> Node:
        """The node that ends at `depth` on the way to `node`."""
        cut = self.index.cut(node, depth)
        if isinstance(cut, Root) and cut.parent is not None:
            cut.parent = self.cut(cut.parent, cut.start)
        if cut.blocks and not cut.born:
            (lower,) = cut.children
            cut.born, cut.uses, cut.used = lower.born, lower.uses, lower.used
            self.policy.split(cut, lower)
        return cut

    def extend(self, node: Node, label: bytes, blocks: list[BlockId], keys: list[BlockKey]) -> Node:
        """Put full blocks behind `node`, in which a lease ends; returns where it ends now.

        The lease's hold moves with it: `node` has one holder less, and one held child more.
        """
        alone = node.holders == 1 and not (len(node.children) or node.pins or node.gates)
        last = self.index.extend(node, label, blocks, keys, alone=alone)
        if last is node:
            self._published(node, len(blocks))
            return node
        fresh = [last]
        while (parent := fresh[-1].parent) is not None and parent is not node:
            fresh.append(parent)
        for at in reversed(fresh):
            self._begin(at)
        return last

    def add_tail(self, node: Node, label: bytes, block: BlockId) -> Node:
        """Put a partly filled block behind `node`, held by a lease that ended in `node`."""
        tail = Node(node, label, [block], [], node.end)
        node.children.add(label, tail)
        self._begin(tail)
        return tail

    def remove_tail(self, tail: Node) -> None:
        """Take a tail out of the tree; whoever held it ends in its parent now. Frees nothing."""
        self.policy.evicted(tail, 1)
        self._detach(tail)

    def evict(self, wanted: int) -> None:
        """Give up cached blocks until `wanted` blocks are free."""
        while self._pool.free < wanted:
            if not len(self.policy):
                self._weaken()
                continue
            leaf = self.policy.victim()
            count = min(len(leaf.blocks), wanted - self._pool.free)
            self.evicted += count
            self._take_off(leaf, count, "evicted", self.policy.name)

    def trim(self, cached: int) -> None:
        """Give up cached blocks until at most `cached` of them are left."""
        self.evict(self._pool.free + max(0, self.cached - cached))

    def expire(self) -> None:
        """Let pins decay and drop what was not used for its time to live."""
        now = self.now()
        while (pin := self.retention.expired(now)) is not None:
            self.unpin(pin)
        if self._ttl is None:
            return
        while self._idle and self._idle[0][0] <= now - self._ttl:
            _, _, node = heappop(self._idle)
            if node.offered and not node.pins and node.used <= now - self._ttl:
                self._take_off(node, len(node.blocks), "expired", "ttl")

    def pin(self, node: Node, chain: Chain, *, tokens: int, priority: int, ttl: float) -> Pin:
        """Keep the prefix that ends in `node`. Raises OverBudget, also if it is the weakest."""
        self._withdraw(node)
        try:
            pin = self.retention.add(
                chain, node, tokens=tokens, priority=priority, ttl=ttl, now=self.now()
            )
        finally:
            self._offer(node)
        while (over := self.retention.over(pin.payer)) is not None:
            self.unpin(over)
        if pin.id not in self.retention.pins:
            raise OverBudget("stronger pins take all that may be kept")
        return pin

    def unpin(self, pin: Pin) -> None:
        """Keep a prefix no longer: it is an ordinary one again."""
        self._withdraw(pin.node)
        self.retention.remove(pin)
        self._offer(pin.node)
        if pin.node.tail:
            self.drop_if_covered(pin.node)

    def drop_covered(self, node: Node, first: bytes) -> None:
        """Drop the idle tails behind `node` that a block beginning with `first` makes useless."""
        for tail in node.children.beginnings(first):
            if not tail.holders and not tail.pins:
                self._take_off(tail, 1)

    def drop_if_covered(self, tail: Node) -> None:
        """Drop a tail that nobody holds if something findable says the same and more."""
        if tail.parent is not None and not tail.holders and not tail.pins:
            following = tail.parent.children.after(bytes(tail.label))
            if following is not None and following.startswith(tail.label):
                self._take_off(tail, 1)

    def clear(self) -> None:
        """Drop all that is cached and forget the roots; what is held is found no more."""
        for pin in list(self.retention.pins.values()):
            self.retention.remove(pin)  # While their paths are whole.
        for root in list(self.roots.values()):
            for node in reversed(list(below(root))):
                if not node.holders:
                    self._free(node.blocks)
                    self._detach(node)
        self.retention.clear()
        self.policy.clear()
        self.index.clear()
        self.ghosts.clear()
        if self.events is not None:
            self.events.append(Cleared())
        self._idle.clear()
        self.roots.clear()
        self.tenants.clear()
        self.cached = 0

    def _begin(self, node: Node) -> None:
        """A new node, held by the one who computed it."""
        self._serial += 1
        node.born, node.used = self._serial, self.now()
        node.holders = 1
        self._published(node, len(node.blocks))

    def _published(self, node: Node, blocks: int) -> None:
        """The last `blocks` blocks of `node` are findable now."""
        self.policy.published(node, blocks)
        if self.events is not None and not node.tail:
            first = node.end - blocks
            self.events.append(
                Stored(
                    self._root_of(node).namespace,
                    node.block_before(first),
                    node.keys[len(node.keys) - blocks :],
                    bytes(node.label[len(node.label) - blocks * self.width :]),
                    node.behind_gate(first),
                )
            )

    def _root_of(self, node: Node) -> Root:
        at = node
        while not isinstance(at, Root):
            assert at.parent is not None
            at = at.parent
        return at

    def _used(self, node: Node) -> None:
        """An idle node was in use until now."""
        node.stamp = self._serial
        node.used = self.now()
        if isinstance(node, Root):
            self._drop_bare_root(node)
            return
        self._offer(node)

    def _offer(self, node: Node) -> None:
        if isinstance(node, Root) or node.holders or len(node.children) or node.gates:
            return
        if node.pins:
            self.retention.offer(node)
            return
        self.policy.offer(node)
        if self._ttl is not None:
            self._entries += 1
            heappush(self._idle, (node.used, self._entries, node))
            if len(self._idle) > 2 * len(self.policy) + 64:
                self._forget_uses()

    def _forget_uses(self) -> None:
        """Only the last use of a leaf counts, and only while it may go."""
        last = {
            entry[2]: entry
            for entry in self._idle
            if entry[2].offered and not entry[2].pins and entry[0] == entry[2].used
        }
        self._idle = list(last.values())
        heapify(self._idle)

    def _withdraw(self, node: Node) -> None:
        (self.retention if node.pins else self.policy).withdraw(node)

    def _weaken(self) -> None:
        """Nothing but pinned leaves is left: the weakest of them is pinned no longer."""
        for pin in self.retention.ending_in(self.retention.victim()):
            self.unpin(pin)

    def _take_off(self, leaf: Node, count: int, cause: Cause | None = None, by: str = "") -> None:
        """Free the last `count` blocks of a cached leaf; without a cause nothing is lost by it."""
        if self.leaving is not None and cause is not None and leaf.keys:
            self.leaving(leaf, leaf.end - count, leaf.end)
        self.cached -= count
        self.policy.evicted(leaf, count)
        if leaf.keys:
            gone = leaf.keys[len(leaf.keys) - count :]
            if cause is not None:
                # The deepest first, so that they are forgotten first.
                self.ghosts.add(reversed(gone), Ghost(cause, by, self.now()))
            if self.events is not None:
                self.events.append(Removed(gone))
        self.index.drop(leaf, min(count, len(leaf.keys)))
        keep = len(leaf.blocks) - count
        self._free(leaf.blocks[keep:])
        if keep:
            del leaf.blocks[keep:], leaf.keys[keep:], leaf.label[keep * self.width :]
            return
        self._withdraw(leaf)
        parent = self._detach(leaf)
        if isinstance(parent, Root):
            self._drop_bare_root(parent)
        else:
            self._offer(parent)

    def _detach(self, leaf: Node) -> Node:
        parent = leaf.parent
        assert parent is not None
        parent.children.remove(bytes(leaf.label[: self.width]))
        leaf.parent = None
        # Policies may remember a node that is gone; its tokens must not stay with it.
        leaf.label = bytearray()
        leaf.blocks = []
        leaf.keys = []
        return parent

    def _free(self, blocks: list[BlockId]) -> None:
        for block in reversed(blocks):
            self._pool.give(block)

    def _plant(self, root: Root) -> None:
        if root.keys[0] in self.roots:
            return
        self.roots[root.keys[0]] = root
        self.tenants.setdefault(root.namespace.tenant, {})[root.keys[0]] = root
        if root.parent is not None:
            root.parent.gates += 1

    def _drop_bare_root(self, root: Root) -> None:
        if root.holders or len(root.children) or self.roots.get(root.keys[0]) is not root:
            return
        if self.leaving is not None and root.parent is not None:
            self.leaving(root, 0, root.start)
        del self.roots[root.keys[0]]
        own = self.tenants[root.namespace.tenant]
        del own[root.keys[0]]
        if not own:
            del self.tenants[root.namespace.tenant]
        if root.parent is not None:
            root.parent.gates -= 1
            self._offer(root.parent)


def below(node: Node) -> Iterator[Node]:
    """Every node below `node`, parents first."""
    stack = list(node.children)
    while stack:
        at = stack.pop()
        yield at
        stack += at.children
