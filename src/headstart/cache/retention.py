"""Pins: prefixes that are given up last, for a time, within a budget.

A pin protects the path to its node from ordinary eviction until it runs out; every use of the whole
prefix starts its time anew. Pins never stand in anyone's way: a tenant over its budget loses those
that run out first, and when nothing else is left to evict, the lowest priority goes. A pin that is
lost is an ordinary prefix again, not a forgotten one.

A prefix that tenants share is on the budget of none of them: pins of it have one of their own.
"""

from collections import Counter
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar

from headstart.cache.keys import TOKEN_BYTES, BlockKey, Chain
from headstart.cache.node import Node, Root
from headstart.cache.policies.base import Ranking

MOST_PINS = 1024
"""Of one tenant; every request that hits looks at those of its namespace."""


@dataclass(slots=True, eq=False)
class Pin:
    """One promise. Read it; it is changed by its keeper."""

    id: int
    tenant: str
    payer: str
    """On whose budget it is."""
    root: BlockKey
    prefix: bytes
    """The tokens that are kept, packed."""
    node: Node
    tokens: int
    priority: int
    """Higher goes later."""
    ttl: float
    """Seconds without use."""
    until: float


class OverBudget(ValueError):
    """A pin that its tenant's budget has no room for."""


class Retention(Ranking):
    """All pins, and the order in which leaves under them go when there is nothing else.

    `budget`: blocks that one tenant's pins may protect; a block under several counts once.
    """

    name: ClassVar[str] = "pinned"

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.budget = budget
        self.pins: dict[int, Pin] = {}
        self._at: dict[Node, list[Pin]] = {}
        self._within: dict[BlockKey, list[Pin]] = {}
        """By the root of their namespace."""
        self._used = Counter[str]()
        self._expiry: list[tuple[float, int]] = []
        self._ids = 0

    def rank(self, leaf: Node) -> tuple[int, float, int]:
        """By its strongest pin."""
        priority, until = max((pin.priority, pin.until) for pin in self._at[leaf])
        return priority, until, leaf.stamp

    def used(self, payer: str) -> int:
        """Blocks that pins on the budget of `payer` protect."""
        return self._used[payer]

    def add(
        self, chain: Chain, node: Node, *, tokens: int, priority: int, ttl: float, now: float
    ) -> Pin:
        """Protect the path to `node`, or renew the pin of the same prefix.

        Raises OverBudget, with nothing changed.
        """
        tenant, prefix = chain.namespace.tenant, bytes(chain.data[: tokens * TOKEN_BYTES])
        payer, blocks = tenant, node.end - chain.border
        if chain.shared is not None and blocks <= 0:
            payer, blocks = chain.shared.namespace.tenant, node.end
        if blocks > self.budget:
            raise OverBudget(f"{blocks} blocks are more than the {self.budget} that may be kept")
        for known in self._within.get(chain.root, ()):
            if known.prefix == prefix:
                known.priority, known.ttl = priority, ttl
                self._start(known, now)
                return known
        if sum(pin.tenant == tenant for pin in self.pins.values()) >= MOST_PINS:
            raise OverBudget(f"{MOST_PINS} prefixes are pinned already")
        self._ids += 1
        pin = Pin(
            self._ids, tenant, payer, chain.root, prefix, node, tokens, priority, ttl, now + ttl
        )
        self.pins[pin.id] = pin
        self._within.setdefault(chain.root, []).append(pin)
        self._at.setdefault(node, []).append(pin)
        self._start(pin, now)
        at: Node | None = node
        while at is not None:
            at.pins += 1
            if at.pins > 1 or isinstance(at, Root):
                break
            self._used[payer] += len(at.blocks)
            at = at.parent
        return pin

    def over(self, payer: str) -> Pin | None:
        """The pin to drop because the payer is over its budget; None if it isn't."""
        if self._used[payer] <= self.budget:
            return None
        own = [pin for pin in self.pins.values() if pin.payer == payer]
        return min(own, key=lambda pin: (pin.priority, pin.until, pin.id))

    def expired(self, now: float) -> Pin | None:
        """A pin whose time has run out, if there is one."""
        while self._expiry and self._expiry[0][0] <= now:
            _, number = heappop(self._expiry)
            pin = self.pins.get(number)
            if pin is not None and pin.until <= now:
                return pin
        return None

    def refresh(self, chain: Chain, matched: int, now: float) -> None:
        """The first `matched` tokens of `chain` are in use."""
        for pin in self._within.get(chain.root, ()):
            if pin.tokens <= matched and chain.data.startswith(pin.prefix):
                self._start(pin, now)

    def _start(self, pin: Pin, now: float) -> None:
        """Its time begins anew."""
        pin.until = now + pin.ttl
        if pin.node.offered:
            self.offer(pin.node)
        heappush(self._expiry, (pin.until, pin.id))
        if len(self._expiry) > 2 * len(self.pins) + 64:
            self._expiry = [(pin.until, pin.id) for pin in self.pins.values()]
            heapify(self._expiry)

    def remove(self, pin: Pin) -> None:
        """Protect its path no longer."""
        del self.pins[pin.id]
        within = self._within[pin.root]
        within.remove(pin)
        if not within:
            del self._within[pin.root]
        pins = self._at[pin.node]
        pins.remove(pin)
        if not pins:
            del self._at[pin.node]
        at: Node | None = pin.node
        while at is not None:
            at.pins -= 1
            if at.pins or isinstance(at, Root):
                break
            self._used[pin.payer] -= len(at.blocks)
            at = at.parent

    def ending_in(self, node: Node) -> list[Pin]:
        """The pins of exactly the prefix that ends in `node`."""
        return list(self._at.get(node, ()))
