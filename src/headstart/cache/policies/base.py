"""What an eviction policy is asked and told, and a frame for those that rank."""

from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, Protocol

from headstart.cache.node import Node
from headstart.cache.visit import Visit


class Policy(Protocol):
    """Chooses among the leaves that nobody holds. Every call is O(log n) with n such leaves.

    What it learns it may write into a node's `mark` and `order`.
    """

    name: ClassVar[str]

    def __len__(self) -> int:
        """Leaves on offer."""
        ...

    def published(self, node: Node, blocks: int) -> None:
        """The last `blocks` blocks of `node` became findable; the others were before."""
        ...

    def split(self, upper: Node, lower: Node) -> None:
        """`upper` is the part of `lower` that another request shares: a node of its own now."""
        ...

    def reused(self, node: Node) -> None:
        """A request reuses the prefix that ends in `node`."""
        ...

    def ended(self, node: Node, visit: Visit) -> None:
        """A request whose prefix ends in `node` is over."""
        ...

    def offer(self, leaf: Node) -> None:
        """`leaf` may be given up from now on; or it is already, and its stamp has changed."""
        ...

    def withdraw(self, leaf: Node) -> None:
        """`leaf` is in use, has a child, or is gone."""
        ...

    def victim(self) -> Node:
        """The leaf whose last block goes next; it stays offered. There must be one."""
        ...

    def evicted(self, leaf: Node, blocks: int) -> None:
        """The last `blocks` blocks of `leaf` are about to be given up, for whatever reason."""
        ...

    def clear(self) -> None:
        """Everything is gone."""
        ...


class Ranking:
    """A policy that gives up the leaf of the lowest rank. Subclasses say what the rank is.

    A heap, in which entries are left to expire: one counts only while its leaf is offered and still
    has the rank it was entered with.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Any, int, Node]] = []
        self._ranks: dict[Node, Any] = {}
        self._serial = 0

    def __len__(self) -> int:
        """Leaves on offer."""
        return len(self._ranks)

    def rank(self, leaf: Node) -> Any:
        """The order in which leaves go, lowest first. Asked when a leaf is offered."""
        raise NotImplementedError

    def spared(self, leaf: Node) -> bool:
        """Whether the leaf whose turn it is gets another one, at a new rank."""
        return False

    def published(self, node: Node, blocks: int) -> None:
        """Nothing to learn."""

    def split(self, upper: Node, lower: Node) -> None:
        """Nothing to learn."""

    def reused(self, node: Node) -> None:
        """Nothing to learn."""

    def ended(self, node: Node, visit: Visit) -> None:
        """Nothing to learn."""

    def evicted(self, leaf: Node, blocks: int) -> None:
        """Nothing to learn."""

    def offer(self, leaf: Node) -> None:
        """Enter the leaf at its rank of now."""
        leaf.offered = True
        rank = self._ranks[leaf] = self.rank(leaf)
        self._serial += 1
        heappush(self._heap, (rank, self._serial, leaf))
        if len(self._heap) > 2 * len(self._ranks) + 64:
            self._heap = [(rank, n, leaf) for n, (leaf, rank) in enumerate(self._ranks.items())]
            heapify(self._heap)

    def withdraw(self, leaf: Node) -> None:
        """Its entry is dropped when it is met."""
        if self._ranks.pop(leaf, None) is not None:
            leaf.offered = False

    def victim(self) -> Node:
        """The leaf of the lowest rank that isn't spared."""
        while True:
            rank, _, leaf = self._heap[0]
            if self._ranks.get(leaf) != rank:
                heappop(self._heap)
            elif self.spared(leaf):
                heappop(self._heap)
                self.offer(leaf)
            else:
                return leaf

    def clear(self) -> None:
        """Start over."""
        for leaf in self._ranks:
            leaf.offered = False
        self._heap.clear()
        self._ranks.clear()
