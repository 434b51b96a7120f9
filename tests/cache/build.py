"""What most tests here begin with: a namespace, and a prompt brought into the cache."""

from collections.abc import Sequence
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


def stored(cache: PrefixCache, tokens: Sequence[int], space: Namespace | None = None) -> Lease:
    """`tokens` computed, published and released, as a request that ended leaves them."""
    lease = acquired(cache, tokens, space)
    cache.publish(lease, tokens)
    cache.release(lease)
    return lease


def cached_tokens(cache: PrefixCache, tokens: Sequence[int], space: Namespace | None = None) -> int:
    """What `tokens` would reuse now."""
    space = space or namespace(block_size=cache.block_size)
    return cache.match(cache.chain(space), tokens).cached_tokens
