"""Small scenes for policies: blocks called by a number, and random work over all they meet."""

import random
from collections.abc import Callable, Iterator

from tests.cache.build import acquired, cached_tokens, namespace, stored

from headstart.cache import Lease, OverBudget, PrefixCache, Visit
from headstart.cache.node import Node
from headstart.cache.policies import Policy
from headstart.cache.policies.base import Ranking
from headstart.cache.tree import below


class Shelf:
    """A cache with room to spare, of prefixes of one block, given up only when told to."""

    def __init__(self, policy: Policy) -> None:
        self.cache = PrefixCache(200, 4, policy=policy)
        self._there: list[int] = []

    def store(self, *numbers: int) -> None:
        """Each is computed by a request of its own."""
        for number in numbers:
            stored(self.cache, [number] * 4)
            self._there.append(number)

    def use(self, *numbers: int) -> None:
        """Each is reused by a request that leaves nothing."""
        for number in numbers:
            lease = acquired(self.cache, [number] * 4 + [9_999])
            assert lease.cached_tokens == 4
            self.cache.release(lease)

    def evict(self, count: int = 1) -> list[int]:
        """The next `count` that go, in order."""
        gone = []
        for _ in range(count):
            self.cache.trim(self.cache.cached - 1)
            self.cache.audit()
            left = [n for n in self._there if cached_tokens(self.cache, [n] * 4 + [9_999])]
            gone += [n for n in self._there if n not in left]
            self._there = left
        return gone


def entries(policy: Policy) -> int:
    """How much the policy remembers in its lists."""
    parts = [part for part in (policy, *vars(policy).values()) if isinstance(part, Ranking)]
    kept = [value for part in (policy, *parts) for value in vars(part).values()]
    return sum(len(value) for value in kept if isinstance(value, list))


def findable(cache: PrefixCache) -> list[Node]:
    """Every node of the tree."""
    return [node for root in cache._tree.roots.values() for node in below(root)]


class RandomWork:
    """Requests come, run and go, prefixes are pinned, time passes, over a pool that is full."""

    def __init__(self, policy: Policy, index: str, seed: int, *, ttl: float | None = None) -> None:
        self.now = 0.0
        self._rng = random.Random(seed)
        self.cache = PrefixCache(
            18, 2, policy=policy, index=index, clock=lambda: self.now, ttl=ttl, ghosts=20
        )
        self._live: list[tuple[Lease, list[int]]] = []
        self._prompts: list[list[int]] = [[]]

    def run(self, operations: int, check: Callable[[], None] = lambda: None) -> None:
        """The books are audited after each operation, what is promised is checked too."""
        work: list[tuple[Callable[[], None], int]] = [
            (self._admit, 40),
            (self._finish, 35),
            (self._publish, 10),
            (self._pin, 5),
            (self._touch, 3),
            (self._wait, 10),
            (self._trim, 2),
            (self._reset, 1),
        ]
        for _ in range(operations):
            (step,) = self._rng.choices([one for one, _ in work], [often for _, often in work])
            step()
            self.cache.audit()
            self._check_held()
            check()

    def _prompt(self) -> list[int]:
        earlier = self._rng.choice(self._prompts[-30:])
        kept = earlier[: self._rng.randint(0, len(earlier))]
        fresh = [self._rng.randint(0, 2) for _ in range(self._rng.randint(1, 6))]
        return [*kept, *fresh][:20]

    def _admit(self) -> None:
        prompt = self._prompt()
        self._prompts.append(prompt)
        before, others = self._pinned(), self._unpinned()
        chain = self.cache.chain(namespace(block_size=2))
        full = self.cache.match(chain, prompt).cached_tokens // 2
        hits = sum(not node.holders and not node.pins for node in self._path(prompt, full))
        free = self.cache.available - self.cache.cached
        lease = self.cache.acquire(chain, prompt)
        if lease is None:
            return
        self._live.append((lease, prompt))
        if self.cache.blocks_for(len(prompt)) - full <= free + others - hits:
            assert self._pinned() == before, "took what is pinned though there was something else"

    def _finish(self) -> None:
        if self._live:
            lease, prompt = self._live.pop(self._rng.randrange(len(self._live)))
            self.cache.publish(lease, prompt, tail=self._rng.random() < 0.5)
            self.cache.release(lease, self._visit(lease, prompt))

    def _visit(self, lease: Lease, prompt: list[int]) -> Visit | None:
        """What is known of the request; now and then nothing, as of one that is preempted."""
        if self._rng.random() < 0.2:
            return None
        return Visit(
            now=self.now,
            prompt_tokens=len(prompt),
            new_tokens=len(prompt) - lease.cached_tokens,
            output_tokens=self._rng.randint(0, 3),
            session=self._rng.choice([None, "a", "b", "c"]),
            stop=self._rng.choice(["stop", "length", "tool_calls"]),
            ended=self._rng.random() < 0.1,
            expected_gap=self._rng.choice([None, None, 1.0]),
        )

    def _publish(self) -> None:
        if self._live:
            lease, prompt = self._rng.choice(self._live)
            computed = self._rng.randint(lease.cached_tokens, len(prompt))
            self.cache.publish(lease, prompt, computed, tail=True)

    def _pin(self) -> None:
        chain = self.cache.chain(namespace(block_size=2))
        try:
            self.cache.pin(
                chain, self._prompt(), ttl=self._rng.randint(1, 9), priority=self._rng.randint(0, 2)
            )
        except OverBudget:
            return

    def _touch(self) -> None:
        self.cache.touch(self.cache.chain(namespace(block_size=2)), self._prompt())

    def _wait(self) -> None:
        self.now += self._rng.random()

    def _trim(self) -> None:
        self.cache.trim(self._rng.randint(0, self.cache.cached))

    def _reset(self) -> None:
        self.cache.reset()

    def _pinned(self) -> set[int]:
        return {pin.id for pin in self.cache.pins("acme")}

    def _unpinned(self) -> int:
        """Blocks that may go before anything pinned must."""
        nodes = findable(self.cache)
        return sum(len(node.blocks) for node in nodes if not node.holders and not node.pins)

    def _path(self, prompt: list[int], full: int) -> Iterator[Node]:
        """The node of each of the first `full` blocks, one for a block."""
        chain = self.cache.chain(namespace(block_size=2))
        chain.extend(prompt)
        root = self.cache._tree.root(chain)
        node: Node | None = self.cache._tree.index.find(root, chain, full * 8).node
        while node is not None and node.parent is not None:
            yield from [node] * (min(node.end, full) - node.start)
            node = node.parent

    def _check_held(self) -> None:
        """What a lease shares is found as long as it holds it."""
        for lease, prompt in self._live:
            if lease.generation == self.cache.generation:
                space = namespace(block_size=2)
                found = cached_tokens(self.cache, [*prompt[: lease.shared * 2], 7], space)
                assert found == lease.shared * 2
