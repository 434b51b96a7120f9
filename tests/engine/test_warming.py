"""After a restart the hottest chunks come up by themselves: the real disk, the real engine."""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine.drive import Outcome, answer, running
from tests.engine.tiered import CHUNK, drained, offload_of, tiered
from tests.stores.build import NEVER, OTHER, SPACE, Clock, chain, disk_store, path_of
from tests.stores.tiering import LONG

from headstart.cache import BlockKey, Visit
from headstart.engine.core import LocalEngine
from headstart.engine.warming import Idle, TierTarget, Warming
from headstart.model.load import LoadedModel
from headstart.stores import Breaker, DiskStore, Guarded, PersistentNamespace, RamStore, Record
from headstart.stores.errors import Unavailable
from headstart.stores.tier import Tier


def prompt_of(length: int, seed: int = 0) -> list[int]:
    draw = random.Random(f"warming {seed}")
    return [draw.randrange(200) for _ in range(length)]


class Engine:
    """Idle or busy, as told."""

    def __init__(self) -> None:
        self.idle = True
        self.looked: Callable[[], None] = lambda: None

    @contextmanager
    def __call__(self) -> Iterator[bool]:
        self.looked()
        yield self.idle


class Kept:
    """A target that remembers what it took."""

    def __init__(self, most: int = 1000) -> None:
        self.most = most
        self.keys: list[BlockKey] = []

    def take(self, record: Record, idle: Idle) -> bool | None:
        if len(self.keys) >= self.most:
            return False
        self.keys.append(record.key)
        return True


def warming(hot: Any, target: Any, clock: Callable[[], float], **options: Any) -> Warming:
    return Warming(
        hot,
        target,
        wanted=options.get("wanted", lambda space: space == SPACE.namespace),
        root=options.get("root", lambda space: space.root(0)),
        clock=clock,
    )


def disk_after_restart(root: Path, clock: Clock, *requests: tuple[list[Record], int]) -> DiskStore:
    """A disk on which requests of these chunks were stored, and used so often."""
    store = disk_store(root, clock)
    for records, _ in requests:
        for record in records:
            store.put(record, deadline=NEVER)
    for records, times in requests:
        for _ in range(times):
            store.used([record.key for record in records], len(records), Visit())
    store.close()
    return disk_store(root, clock)


def test_the_most_used_prefix_comes_up_first_and_from_its_begin(tmp_path: Path) -> None:
    clock, target = Clock(), Kept()
    rare, hot, warm = (chain(3, seed=seed) for seed in range(3))
    store = disk_after_restart(tmp_path, clock, (rare, 1), (hot, 9), (warm, 3))
    warming(store, target, clock).run(Engine())
    assert target.keys == [record.key for record in hot + warm + rare]
    assert store.stats().counts.get("hit", 0) == 0, "nobody has asked for it"


def test_of_what_was_used_alike_the_latest_comes_up_first(tmp_path: Path) -> None:
    clock, target = Clock(), Kept()
    store = disk_store(tmp_path, clock)
    for seed in range(4):
        (record,) = chain(1, seed=seed)
        store.put(record, deadline=NEVER)
        clock.now += 100
        store.used([record.key], 0, Visit())
    store.close()
    warming(disk_store(tmp_path, clock), target, clock).run(Engine())
    assert target.keys == [chain(1, seed=seed)[0].key for seed in (3, 2, 1, 0)]


def test_what_another_model_or_an_earlier_reset_left_stays_below(tmp_path: Path) -> None:
    clock, target = Clock(), Kept()
    ours, theirs = chain(2), chain(2, space=OTHER)
    store = disk_after_restart(tmp_path, clock, (theirs, 5), (ours, 1))
    warming(store, target, clock).run(Engine())
    assert target.keys == [record.key for record in ours]
    later = Kept()
    warming(store, later, clock, root=lambda space: space.root(1)).run(Engine())
    assert later.keys == []


def test_damage_and_what_is_gone_is_left_out_with_what_continues_it(tmp_path: Path) -> None:
    clock, target = Clock(), Kept()
    damaged, gone, sound = (chain(3, seed=seed) for seed in range(3))
    store = disk_after_restart(tmp_path, clock, (damaged, 9), (gone, 5), (sound, 1))
    path = path_of(tmp_path, damaged[1])
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    path_of(tmp_path, gone[0]).unlink()
    warming(store, target, clock).run(Engine())
    assert target.keys == [record.key for record in damaged[:1] + sound]


def test_a_reset_meanwhile_ends_what_was_begun(tmp_path: Path) -> None:
    clock, target = Clock(), Kept()
    slow = Slow(disk_after_restart(tmp_path, clock, (chain(4), 1)))
    warming(slow, target, clock, root=lambda space: space.root(0 if slow.reads < 3 else 1)).run(
        Engine()
    )
    assert target.keys == [record.key for record in chain(2)]


def test_it_ends_when_there_is_enough(tmp_path: Path) -> None:
    clock, target = Clock(), Kept(most=2)
    store = disk_after_restart(tmp_path, clock, (chain(5), 1))
    warming(store, target, clock).run(Engine())
    assert target.keys == [record.key for record in chain(2)]


def test_the_tier_above_is_filled_to_its_half(tmp_path: Path) -> None:
    clock = Clock()
    store = disk_after_restart(tmp_path, clock, (chain(30), 1))
    ram = RamStore(memoryview(bytearray(20 * 3 * 4096)), clock=clock)
    tier = Tier("ram", Guarded("ram", ram, Breaker(), clock=clock))
    warming(store, TierTarget(tier, clock), clock).run(Engine())
    found = ram.contains_many(SPACE, [record.key for record in chain(30)], deadline=NEVER)
    assert found == [True] * 10 + [False] * 20


class Slow:
    """A disk that is counted, and that may hang, or fail."""

    def __init__(self, store: DiskStore) -> None:
        self.store = store
        self.reads = 0
        self.may_read = threading.Event()
        self.may_read.set()
        self.error: Exception | None = None
        self.before: Callable[[], None] = lambda: None

    @property
    def scanned(self) -> bool:
        return self.store.scanned

    def hottest(self) -> list[BlockKey]:
        return self.store.hottest()

    def peek(
        self, key: BlockKey, wanted: Callable[[PersistentNamespace], bool], *, deadline: float
    ) -> Record | None:
        self.reads += 1
        self.before()
        assert self.may_read.wait(LONG)
        if self.error is not None:
            raise self.error
        return self.store.peek(key, wanted, deadline=deadline)


def test_while_a_request_runs_nothing_is_read_but_what_was_begun(tmp_path: Path) -> None:
    clock, target, engine = Clock(), Kept(), Engine()
    slow = Slow(disk_after_restart(tmp_path, clock, (chain(5), 1)))
    looks = 0

    def arrives_during_the_second_read() -> None:
        engine.idle = slow.reads < 2

    def looked() -> None:
        nonlocal looks
        looks += not engine.idle
        if looks == 3 and not engine.idle:
            assert slow.reads == 2
            engine.idle = True
            slow.before = lambda: None

    slow.before, engine.looked = arrives_during_the_second_read, looked
    warming(slow, target, clock).run(engine)
    assert looks == 3
    assert target.keys == [record.key for record in chain(5)]


def test_a_disk_that_fails_ends_it_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, target = Clock(), Kept()
    slow = Slow(disk_after_restart(tmp_path, clock, (chain(5), 1)))
    slow.error = Unavailable("gone")
    made = warming(slow, target, clock)
    made.run(Engine())
    assert (target.keys, slow.reads, made.done.is_set()) == ([], 1, True)
    assert "brought up: gone" in caplog.text


async def warmed(engine: LocalEngine) -> None:
    made = engine._warming
    assert made is not None
    assert await asyncio.to_thread(made.done.wait, LONG)


async def served(loaded: LoadedModel, prompts: list[list[int]], **settings: Any) -> list[Outcome]:
    """An engine of its own answers the prompts, and stores them."""
    async with tiered(loaded, **settings) as engine:
        outcomes = [await answer(engine, prompt) for prompt in prompts]
        await drained(engine)
    return outcomes


def test_after_a_restart_the_pool_has_the_hottest_prefixes_before_anybody_asks(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    hot, cold = prompt_of(2 * CHUNK + 9), prompt_of(2 * CHUNK + 9, seed=1)
    exact = {"deterministic": True, "disk": str(tmp_path)}

    async def main() -> None:
        first, *_ = await served(tiny, [hot, cold, hot, hot], **exact)
        room = 5 * CHUNK * kv_bytes(tiny)
        async with running(tiny, **exact, kv_memory_bytes=room) as engine:
            await warmed(engine)
            stats = engine.stats().cache
            assert (stats.cached_free_tokens, stats.evicted_blocks) == (2 * CHUNK, 0), (
                "half of the pool"
            )
            engine.audit()
            again = await answer(engine, hot)
            assert (again.reuse.cached_tokens, again.reuse.loaded) == (2 * CHUNK, {})
            assert again.tokens == first.tokens, "bit for bit"

    asyncio.run(main())


def test_a_ram_tier_takes_what_is_hot_instead_of_the_pool(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    prompt = prompt_of(2 * CHUNK + 9)

    async def main() -> None:
        await served(tiny, [prompt], disk=str(tmp_path))
        settings = {"disk": str(tmp_path), "ram_tier_bytes": 8 << 20, "warm_restart": True}
        async with tiered(tiny, **settings) as engine:
            await warmed(engine)
            assert engine.stats().cache.cached_free_tokens == 0
            assert (await answer(engine, prompt)).reuse.loaded == {"ram": 2 * CHUNK}

    asyncio.run(main())


def test_a_request_does_not_wait_for_what_is_being_read(tiny: LoadedModel, tmp_path: Path) -> None:
    """The disk hangs in the middle of it."""
    prompts = [prompt_of(2 * CHUNK + 9, seed=seed) for seed in range(2)]

    async def main() -> None:
        await served(tiny, prompts, disk=str(tmp_path))
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            hot = offload_of(engine).tiers.hot()
            assert hot is not None
            slow = Slow(hot[0])  # type: ignore[arg-type]
            slow.may_read.clear()
            made = warming(slow, Kept(), time.monotonic, wanted=lambda space: True)
            made.start(engine._idle)
            while not slow.reads:
                await asyncio.sleep(0.001)
            await answer(engine, prompt_of(40, seed=9))
            assert not made.done.is_set()
            slow.may_read.set()
            assert await asyncio.to_thread(made.done.wait, LONG)
            assert slow.reads == 4

    asyncio.run(main())


def test_closing_the_engine_ends_it(tiny: LoadedModel, tmp_path: Path) -> None:
    async def main() -> None:
        await served(tiny, [prompt_of(3 * CHUNK)], disk=str(tmp_path))
        async with running(tiny, disk=str(tmp_path)) as engine:
            await engine.aclose(0)
            await warmed(engine)

    asyncio.run(main())


def kv_bytes(loaded: LoadedModel) -> int:
    config = loaded.config
    size = loaded.weights.embed.dtype.itemsize
    return 2 * config.layers * config.kv_heads * config.head_dim * size
