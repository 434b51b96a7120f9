"""Prefixes that all tenants share, because the operator declares them."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace

from headstart.cache import Chain, Namespace, PrefixCache

EVERYBODY = "shared prefixes"
"""Whose their KV is. No key stands for a tenant of this name: it is two words."""


class SharedPrefixes:
    """Tells which prompts begin with a declared prefix, and gives their chains.

    Whole blocks are shared, and of several prefixes that a prompt begins with the longest. A salt
    asks to be apart, so what has one shares nothing. Each adapter's KV is its own.
    """

    def __init__(self, cache: PrefixCache, prefixes: Iterable[Sequence[int]]) -> None:
        self._cache = cache
        self._by_block: dict[bytes, list[array[int]]] = {}
        """By the first block, the longest first."""
        self._chains: dict[tuple[Namespace, bytes], Chain] = {}
        size = cache.block_size
        whole = {array("I", each[: len(each) // size * size]).tobytes() for each in prefixes}
        for packed in sorted(filter(None, whole), key=len, reverse=True):
            prefix = array("I", packed)
            self._by_block.setdefault(prefix[:size].tobytes(), []).append(prefix)

    def chain(self, namespace: Namespace, tokens: Sequence[int]) -> Chain:
        """An empty chain for a request that begins with `tokens`."""
        return self._cache.chain(namespace, self._shared(namespace, tokens))

    def _shared(self, namespace: Namespace, tokens: Sequence[int]) -> Chain | None:
        if not self._by_block or namespace.salt is not None:
            return None
        first = array("I", tokens[: self._cache.block_size]).tobytes()
        for prefix in self._by_block.get(first, ()):
            if len(tokens) >= len(prefix) and array("I", tokens[: len(prefix)]) == prefix:
                return self._chain_of(replace(namespace, tenant=EVERYBODY), prefix)
        return None

    def _chain_of(self, namespace: Namespace, prefix: "array[int]") -> Chain:
        key = namespace, prefix.tobytes()
        chain = self._chains.get(key)
        if chain is None:
            chain = self._chains[key] = self._cache.chain(namespace)
            chain.extend(prefix)
        return chain
