import asyncio
import random
from collections.abc import Sequence

from tests.engine.drive import answer
from tests.engine.tiered import CHUNK, drained, put_below, tiered
from tests.stores.build import Clock

from headstart.cache import Visit
from headstart.cache.keys import BlockKey
from headstart.model.load import LoadedModel
from headstart.stores import RamStore


class Hearing(RamStore):
    """Remembers which requests it was told of."""

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(16 << 20)), clock=Clock())
        self.heard: list[tuple[list[BlockKey], int, Visit]] = []

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        self.heard.append((list(keys), reused, visit))


def test_tiers_are_told_which_chunks_a_request_used_wherever_they_came_from(
    tiny: LoadedModel,
) -> None:
    prompt = [random.Random(7).randrange(200) for _ in range(3 * CHUNK + 10)]
    store = Hearing()

    async def main() -> None:
        async with tiered(tiny, ram_tier_bytes=1 << 20) as engine:
            put_below(engine, near=store)
            for length in (3 * CHUNK + 10, 3 * CHUNK + 10, 2 * CHUNK + 5, CHUNK - 5):
                await answer(engine, prompt[:length], max_tokens=1)
            await drained(engine)

    asyncio.run(main())
    keys = [key for key, _, _ in store.heard[:1] for key in key]
    assert [len(heard) for heard, _, _ in store.heard] == [3, 3, 2, 0]
    assert all(heard == keys[: len(heard)] for heard, _, _ in store.heard)
    assert [reused for _, reused, _ in store.heard] == [0, 3, 2, 0]
    assert [visit.prompt_tokens for _, _, visit in store.heard] == [778, 778, 517, 251]
    assert all(key in store._index for key in keys)
