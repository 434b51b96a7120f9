"""The real scheduler, cache, pool and tiers around a model whose KV can be checked at every place.

The KV of a position is a number drawn from whoever it belongs to and all tokens up to it, so KV of
another prefix, of another tenant, torn or never written is told at once.
"""

import random
from array import array
from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, Literal, cast

import torch
from tests.stores.tiering import Rig

from headstart.cache import Chain, PrefixCache
from headstart.cache.keys import Namespace
from headstart.engine.offload import Offload
from headstart.engine.scheduler import Scheduler
from headstart.engine.sequence import Group, Sequence
from headstart.engine.shared import SharedPrefixes
from headstart.model.config import ModelConfig
from headstart.model.kv import KVPool
from headstart.stores import Store

KV_BYTES = 32
"""Of a token: one layer, one head, keys and values of four numbers."""
WAIT = 20.0


class Twin:
    """`chunk_blocks` blocks go down together. `fixed`: deterministic mode with such borders.

    `declared`: prefixes that tenants share.
    """

    def __init__(
        self,
        *names: str,
        blocks: int = 64,
        block_size: int = 4,
        chunk_blocks: int = 2,
        fixed: int | None = None,
        write: Literal["through", "selective", "back"] = "through",
        arena: int = 1 << 20,
        step_tokens: int = 64,
        ttl: float | None = None,
        stores: Mapping[str, Store] | None = None,
        index: str = "radix",
        declared: Iterable[list[int]] = (),
        ghosts: int = 0,
    ) -> None:
        self.rig = Rig(
            *names,
            stores=stores,
            arena=arena,
            chunk_bytes=chunk_blocks * block_size * KV_BYTES,
        )
        self.cache = PrefixCache(
            blocks,
            block_size,
            reuse_unit=fixed or 1,
            clock=lambda: self.rig.clock.now,
            ttl=ttl,
            index=index,
            ghosts=ghosts,
        )
        self.shared = SharedPrefixes(self.cache, declared)
        self.pool = KVPool(
            cast(ModelConfig, SimpleNamespace(layers=1, kv_heads=1, head_dim=4)),
            blocks=blocks,
            block_size=block_size,
            dtype=torch.float32,
            device=torch.device("cpu"),
        )
        self.offload = Offload(
            self.rig.tiers,
            self.cache,
            self.pool,
            chunk_blocks=chunk_blocks,
            write=write,
            clock=self.rig.clock,
            wall_ns=self.rig.clock.wall,
        )
        self.scheduler = Scheduler(
            self.cache,
            max_batch_tokens=step_tokens,
            max_running=8,
            chunk=fixed,
            loader=self.offload,
        )
        self.done: list[Sequence] = []
        self._arrivals = 0

    def close(self) -> None:
        self.offload.close(WAIT, flush=False)

    def namespace(self, tenant: str, **changes: Any) -> Namespace:
        fields: dict[str, Any] = {
            "weights": b"w" * 32,
            "adapter": None,
            "tenant": tenant,
            "salt": None,
            "dtype": "float32",
            "layout": "twin",
            "rope": "none",
            "block_size": self.cache.block_size,
        }
        return Namespace(**{**fields, **changes})

    def add(
        self, prompt: list[int], *, max_tokens: int = 1, tenant: str = "a", **changes: Any
    ) -> Sequence:
        """Queue a prompt, as the engine does."""
        sequence = Sequence(
            Group(len(prompt)),
            array("I", prompt),
            self.shared.chain(self.namespace(tenant, **changes), prompt),
            self._arrivals,
            max_tokens,
        )
        self._arrivals += 1
        self.offload.begin(sequence)
        self.scheduler.add(sequence)
        return sequence

    def run(self, prompt: list[int], **fields: Any) -> Sequence:
        """A prompt by itself, to its end."""
        sequence = self.add(prompt, **fields)
        self.loaded(sequence)
        while sequence not in self.done:
            assert self.step(), "nothing to do, and it isn't done"
        return sequence

    def loaded(self, sequence: Sequence) -> None:
        """Wait until all has come up for it that will."""
        load = sequence.load
        if load is not None:
            self.rig.until(lambda: not load.wanted())

    def step(self) -> bool:
        """One step of the engine. Every KV that it may use is checked first."""
        work = self.scheduler.plan(self.rig.clock.now)
        self.pool.copy_all(self.cache.take_copies())
        for sequence in self.scheduler.running:
            self.check(sequence)
        for item in work:
            self._compute(item.sequence, item.count)
            self.scheduler.complete(item, self.rig.clock.now)
            self.offload.computed(item.sequence)
            if item.samples:
                item.sequence.tokens.append(len(item.sequence.tokens) % 7)
                if item.sequence.generated >= item.sequence.max_tokens:
                    self.drop(item.sequence)
        self.cache.audit()
        return bool(work)

    def finish(self) -> None:
        """Step until nobody waits or runs, waiting for loads."""
        while self.scheduler.waiting or self.scheduler.running:
            if not self.step():
                assert any(each.load for each in self.scheduler.waiting), "nothing to do"
                for each in self.scheduler.waiting:
                    self.loaded(each)

    def drop(self, sequence: Sequence) -> None:
        """It ends, or its client leaves."""
        self.scheduler.finish(sequence)
        self.done.append(sequence)

    def forget_pool(self) -> None:
        """All leaves the pool, and what is on its way down arrives; nothing may run."""
        self.rig.drained()
        self.cache._tree.trim(0)
        self.pool._data.fill_(float("nan"))
        self.rig.drained()

    def crash(self) -> None:
        """As after a restart without a clean end, with the same tiers; nothing may run."""
        leaving, self.cache._tree.leaving = self.cache._tree.leaving, None
        self.forget_pool()
        self.cache._tree.leaving = leaving

    def check(self, sequence: Sequence) -> None:
        """All that the sequence counts as computed is what computing would give."""
        lease, size = sequence.lease, self.cache.block_size
        assert lease is not None
        for position, expected in enumerate(_kv(sequence, sequence.computed)):
            slot = lease.blocks[position // size] * size + position % size
            found = self.pool._data[..., slot, :].flatten().tolist()
            assert found == [expected] * 8, f"position {position} of {sequence.arrival}"

    def _compute(self, sequence: Sequence, count: int) -> None:
        lease, size = sequence.lease, self.cache.block_size
        assert lease is not None
        end = sequence.computed + count
        values = _kv(sequence, end)
        for position in range(sequence.computed, end):
            slot = lease.blocks[position // size] * size + position % size
            self.pool._data[..., slot, :] = values[position]


def _kv(sequence: Sequence, count: int) -> list[float]:
    chain = sequence.chain
    border = chain.border * chain.namespace.block_size
    digest = sha256(_who(chain.shared or chain))
    values = []
    for position, token in enumerate(sequence.tokens[:count]):
        if position == border:
            digest.update(_who(chain))
        digest.update(token.to_bytes(4, "little"))
        values.append(float(int.from_bytes(digest.digest()[:3], "little")))
    return values


def _who(chain: Chain) -> bytes:
    space = chain.namespace
    return f"{space.tenant}|{space.salt}|{space.adapter!r}".encode()


def prompt_of(length: int, seed: int = 0) -> list[int]:
    """Prompts of other seeds or lengths begin with other tokens."""
    draw = random.Random(f"{seed} {length}")
    return [1000 + seed, *(draw.randrange(100) for _ in range(length - 1))]
