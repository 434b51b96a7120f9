"""Chunks that go straight into the pool. Chunks of two blocks; a pool of sixteen."""

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import torch
from tests.stores.build import BLOCK, SPACE, chain

from headstart.cache import PrefixCache
from headstart.engine.warm_pool import PoolTarget
from headstart.model.config import ModelConfig
from headstart.model.kv import KVPool
from headstart.stores import Record

BYTES = 2 * BLOCK * 32
"""Of a chunk's KV: keys and values of one head of four numbers."""


def target(cache: PrefixCache) -> PoolTarget:
    config = cast(ModelConfig, SimpleNamespace(layers=1, kv_heads=1, head_dim=4))
    pool = KVPool(
        config,
        blocks=cache.total,
        block_size=BLOCK,
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    return PoolTarget(cache, pool, chunk_blocks=2)


def chunks(count: int) -> list[Record]:
    return [replace(each, payload=bytearray(each.payload)) for each in chain(count, size=BYTES)]


@contextmanager
def idle() -> Iterator[bool]:
    yield True


def found(cache: PrefixCache, records: list[Record]) -> int:
    """Tokens of these chunks that a longer prompt would reuse."""
    tokens = array("I", b"".join(bytes(record.tokens) for record in records))
    tokens.append(7)
    return cache.match(cache.chain(SPACE.namespace), tokens).cached_tokens


def test_what_was_read_before_a_reset_is_not_found_after_it() -> None:
    cache = PrefixCache(16, BLOCK)
    before = chunks(2)
    warm = target(cache)
    cache.reset()
    for record in before:
        assert warm.take(record, idle)
    assert found(cache, before) == 0
    assert cache.cached == 0
    cache.audit()


def test_chunks_are_found_as_far_as_they_follow_one_another() -> None:
    cache = PrefixCache(16, BLOCK)
    records = chunks(3)
    warm = target(cache)
    for record in (records[0], records[2], records[1]):
        assert warm.take(record, idle)
    assert found(cache, records) == 4 * BLOCK
    cache.audit()
