"""What a plain prefix cache reads of a prompt behind another one: asked of the cache that serves.

So the place and the reason are those that the server's own report names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache import BlockKey, Namespace, PrefixCache, Reason
from headstart.cache.keys import TOKEN_BYTES, block_keys, token_bytes
from headstart.insight.asked.piece import utf8


@dataclass(frozen=True, slots=True)
class Plain:
    """Of the later prompt."""

    prompt: int
    at: int
    """Tokens in common with what is cached: the index of the first that differs or is new."""
    cached: int
    """Read, where hits are exact to the token."""
    reason: Reason
    fields: tuple[str, ...]
    """In which its namespace differs from the earlier one's (other_namespace)."""
    block_size: int

    @property
    def blocks(self) -> int:
        """Whole blocks that are read where hits are cut to them: floor(P / B)."""
        return self.cached // self.block_size

    @property
    def aligned(self) -> int:
        """B * floor(P / B) tokens."""
        return self.blocks * self.block_size

    @property
    def odd(self) -> int:
        """Tokens that cutting to whole blocks costs."""
        return self.cached - self.aligned


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the walk along the chain of keys."""

    index: int
    key: BlockKey
    hit: bool
    same: bool
    """Whether its own tokens are those of the earlier prompt's block in that place: a miss all the
    same, where a block before it differs."""


def namespace(
    weights: str, tenant: str, salt: str | None, block_size: int, adapter: str | None = None
) -> Namespace:
    """Where KV is found. Names stand for contents: which they are, only the server knows."""
    return Namespace(
        weights=utf8(weights),
        adapter=None if adapter is None else utf8(adapter),
        tenant=tenant,
        salt=salt,
        dtype="",
        layout="",
        rope="",
        block_size=block_size,
    )


Spaced = tuple[Namespace, Sequence[int]]
"""A prompt where it is looked for."""


def play(before: Spaced | None, after: Spaced) -> Plain:
    """Compute the one, then look the other up."""
    size = after[0].block_size
    room = sum(len(ids) // size + 2 for _, ids in filter(None, (before, after)))
    cache = PrefixCache(room, size)
    if before is not None and len(before[1]):
        lease = cache.acquire(cache.chain(before[0]), before[1])
        assert lease is not None, "there is room for both"
        cache.publish(lease, before[1], tail=True)
        cache.release(lease)
    chain = cache.chain(after[0])
    cached = cache.match(chain, after[1]).cached_tokens
    miss = cache.explain(chain, after[1])
    return Plain(len(after[1]), miss.at, cached, miss.reason, miss.fields, size)


def walk(before: Spaced | None, after: Spaced) -> list[Step]:
    """Every full block of the later prompt. Hits are a run from block 0 on, never with a hole."""
    size = after[0].block_size
    packed = token_bytes(after[1])
    keys = block_keys(after[0].root(0), packed, size)
    known: list[BlockKey] = []
    there = b""
    if before is not None:
        there = token_bytes(before[1])
        known = block_keys(before[0].root(0), there, size)
    width = size * TOKEN_BYTES
    steps = []
    for index, key in enumerate(keys):
        own = packed[index * width : (index + 1) * width]
        hit = index < len(known) and known[index] == key
        same = index < len(known) and there[index * width : (index + 1) * width] == own
        steps.append(Step(index, key, hit, same))
    return steps
