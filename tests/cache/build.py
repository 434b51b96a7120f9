"""What most tests here begin with: a namespace, and a prompt brought into the cache."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from headstart.cache import Lease, Namespace, PrefixCache


def namespace(**changes: Any) -> Namespace:
    """A namespace of blocks of 4 tokens; `changes` replace its fields."""
    fields: dict[str, Any] = {
        "weights": bytes(range(32)),
        "adapter": None,
        "tenant": "acme",
        "salt": None,
        "dtype": "float32",
        "layout": "layers=2 kv_heads=1 head_dim=8",
        "rope": "theta=10000 context=2048",
        "block_size": 4,
    }
    return Namespace(**{**fields, **changes})


def acquired(
    cache: PrefixCache, tokens: Sequence[int], space: Namespace | None = None, **hints: int
) -> Lease:
    """A lease on `tokens`; the test fails if the pool can't give it."""
    space = space or namespace(block_size=cache.block_size)
    lease = cache.acquire(cache.chain(space), tokens, **hints)
    assert lease is not None
    return lease


def stored(
    cache: PrefixCache,
    tokens: Sequence[int],
    space: Namespace | None = None,
    *,
    tail: bool = False,
) -> Lease:
    """`tokens` computed, published and released, as a request that ended leaves them."""
    lease = acquired(cache, tokens, space)
    cache.publish(lease, tokens, tail=tail)
    cache.release(lease)
    return lease


def cached_tokens(cache: PrefixCache, tokens: Sequence[int], space: Namespace | None = None) -> int:
    """What `tokens` would reuse now."""
    space = space or namespace(block_size=cache.block_size)
    return cache.match(cache.chain(space), tokens).cached_tokens


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many leading tokens are the same, counted one by one."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


class Memory:
    """A pretended KV memory: which tokens each block was computed from."""

    def __init__(self, cache: PrefixCache) -> None:
        self._cache = cache
        self._blocks: dict[int, list[int]] = {}

    def run_copies(self) -> None:
        """As the owner of the pool does, in order."""
        for source, target, tokens in self._cache.take_copies():
            assert len(self._blocks[source]) >= tokens, "copies what was never computed"
            self._blocks[target] = self._blocks[source][:tokens]

    def compute(self, lease: Lease, tokens: Sequence[int]) -> None:
        """Write what the lease did not reuse, from the first such token on."""
        self.run_copies()
        size = self._cache.block_size
        for at in range(lease.cached_tokens, len(tokens)):
            block = self._blocks.setdefault(lease.blocks[at // size], [])
            block[at % size :] = [tokens[at]]

    def read(self, lease: Lease, count: int) -> list[int]:
        """What attention finds at the first `count` positions of the lease."""
        size = self._cache.block_size
        blocks = (self._blocks.get(block, [])[:size] for block in lease.blocks)
        return [token for block in blocks for token in block][:count]


def steps(work: Callable[[], object]) -> int:
    """How many lines of the cache's code run while `work` does: cost without a clock."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if not frame.f_globals.get("__name__", "").startswith("headstart.cache"):
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines
