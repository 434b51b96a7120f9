"""Engines with tiers below them, whose worth doesn't hang on how fast this machine computes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.engine.drive import running
from tests.stores.tiering import LONG

from headstart.engine.core import LocalEngine
from headstart.engine.offload import Offload
from headstart.model.load import LoadedModel
from headstart.stores import Breaker, Guarded, Store
from headstart.stores.tier import Tier
from headstart.stores.tiers import Tiers

CHUNK = 256
"""Tokens that go down together, of the tiny model."""


def offload_of(engine: LocalEngine) -> Offload:
    offload = engine._offload
    assert offload is not None
    return offload


def pretend(engine: LocalEngine, seconds_per_token: float) -> None:
    """Computing costs so much, whatever it costs here."""
    offload = offload_of(engine)
    offload._seconds_per_token = seconds_per_token
    offload.prefilled = lambda tokens, seconds: None  # type: ignore[method-assign]


def put_below(engine: LocalEngine, **stores: Store) -> None:
    """Replace the engine's tiers, nearest first."""
    offload = offload_of(engine)
    before, clock = offload.tiers, engine._clock
    offload.tiers = Tiers(
        [
            Tier(name, Guarded(name, store, Breaker(), clock=clock))
            for name, store in stores.items()
        ],
        chunk_bytes=before.chunk_bytes,
        clock=clock,
    )
    before.close(LONG)


@asynccontextmanager
async def tiered(
    loaded: LoadedModel, *, seconds_per_token: float = 0.01, **settings: Any
) -> AsyncIterator[LocalEngine]:
    """An engine to which a chunk is worth waiting for: 256 tokens cost it 2.56 s.

    What a tier gives it gives to requests: nothing comes up before they ask.
    """
    settings = {"kv_memory_bytes": 4 << 20, "warm_restart": False, **settings}
    async with running(loaded, **settings) as engine:
        if engine._offload is not None:
            pretend(engine, seconds_per_token)
        yield engine


async def drained(engine: LocalEngine) -> None:
    """Wait until all that was queued for the tiers is written, or was refused."""
    async with asyncio.timeout(LONG):
        while offload_of(engine).tiers.queued:
            await asyncio.sleep(0.01)


def events(engine: LocalEngine, tier: str) -> dict[str, int]:
    """What happened at the calls to a tier."""
    (found,) = [each for each in engine.stats().tiers if each.name == tier]
    return dict(found.store.counts)


def state(engine: LocalEngine, tier: str) -> str:
    (found,) = [each.state for each in engine.stats().tiers if each.name == tier]
    return found
