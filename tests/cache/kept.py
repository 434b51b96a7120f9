"""A cache with a clock, for what is kept for a time."""

from collections.abc import Sequence
from typing import Any

from tests.cache.build import acquired, cached_tokens, namespace, stored

from headstart.cache import Namespace, Pin, PrefixCache


class Kept:
    """A cache whose clock stands until it is moved, audited after every step."""

    def __init__(self, blocks: int, index: str, **options: Any) -> None:
        self.now = 0.0
        self.cache = PrefixCache(blocks, 4, index=index, clock=lambda: self.now, **options)

    def store(self, tokens: Sequence[int], space: Namespace | None = None, **how: bool) -> None:
        stored(self.cache, tokens, space, **how)
        self.cache.audit()

    def pin(
        self,
        tokens: Sequence[int],
        *,
        ttl: float = 100.0,
        priority: int = 0,
        space: Namespace | None = None,
    ) -> Pin:
        chain = self.cache.chain(space or namespace())
        pin = self.cache.pin(chain, tokens, ttl=ttl, priority=priority)
        self.cache.audit()
        assert pin is not None
        return pin

    def unpin(self, pin: Pin) -> None:
        self.cache.unpin(pin)
        self.cache.audit()

    def flood(self, blocks: int) -> None:
        """A request that wants so many blocks, and keeps none."""
        self.cache.release(acquired(self.cache, range(9_000, 9_000 + 4 * blocks)))
        self.cache.audit()

    def cached(self, tokens: Sequence[int], space: Namespace | None = None) -> int:
        """How many of `tokens` are cached; what follows them is not."""
        return cached_tokens(self.cache, [*tokens, 7_777], space)

    def live(self, tenant: str = "acme") -> list[Pin]:
        pins = self.cache.pins(tenant)
        self.cache.audit()
        return pins
