"""Which beginnings were there before: the cache that serves, with room for all there is."""

from array import array
from collections.abc import Sequence
from functools import cached_property

from headstart.cache import Namespace, PrefixCache

ROOM = 1 << 20
"""Blocks. Of more than so many different ones those used longest ago are forgotten."""


class Seen:
    """Sequences of ids below 2**32, each heard once, in order."""

    def __init__(self, block_size: int = 1) -> None:
        self._block_size = block_size

    @cached_property
    def _cache(self) -> PrefixCache:
        return PrefixCache(ROOM, self._block_size)

    def ask(self, ids: Sequence[int], *, tenant: str, model: str) -> int:
        """How many of `ids`, at most all but the last, some earlier sequence began with."""
        cache = self._cache
        space = Namespace(
            weights=model.encode("utf-8", "surrogatepass"),
            adapter=None,
            tenant=tenant,
            salt=None,
            dtype="",
            layout="",
            rope="",
            block_size=self._block_size,
        )
        tokens = array("I", ids[:])  # A slice may be one already, which isn't packed anew.
        lease = cache.acquire(cache.chain(space), tokens)
        if lease is None:
            cache.reset()
            return 0
        cache.take_copies()
        cache.publish(lease, tokens, len(tokens), tail=True)
        cache.release(lease)
        return lease.cached_tokens
