"""TIER: persisted KV that is wrong, partial, unidentified or unreachable; and what ID, LIFE and PUB
say of tiers. With the real engine on a tiny model, or with KV that can be checked at every place.
"""

import asyncio
import os
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.acceptance.compare import hold_exactly
from tests.engine.drive import Outcome, answer, request, until_idle, until_running
from tests.engine.offload_twin import WAIT, Twin
from tests.engine.offload_twin import prompt_of as twin_prompt
from tests.engine.tiered import CHUNK, tiered
from tests.failure_kinds.drive import BLOCK_BYTES, load, prompt_of
from tests.stores.build import NEVER, SPACE, Clock, chain, chunk_files, folder_store
from tests.stores.faults import FaultyFiles

from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel
from headstart.stores import RamStore
from headstart.stores.inspect import chunks as inspect_chunks

REPOSITORY = Path(__file__).parents[2]
EXACT: dict[str, Any] = {"deterministic": True}


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


async def ask(loaded: LoadedModel, prompt: list[int], **settings: Any) -> Outcome:
    """In an engine of its own."""
    asked = {"adapter": settings.pop("adapter", None)}
    async with tiered(loaded, **settings) as engine:
        return await answer(engine, prompt, **asked)


def from_disk(outcome: Outcome) -> int:
    assert sum(outcome.reuse.loaded.values()) <= outcome.reuse.cached_tokens
    return outcome.reuse.loaded.get("disk", 0)


# TIER


def test_tier_01_what_was_stored_hits_after_a_restart_and_is_not_written_twice(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    async def main() -> None:
        cold = await ask(tiny, prompt_of(900), **EXACT, disk=str(tmp_path))
        files = {path: path.stat().st_ino for path in chunk_files(tmp_path)}
        assert len(files) == 3
        warm = await ask(tiny, prompt_of(900), **EXACT, disk=str(tmp_path))
        hold_exactly(cold, warm, "from disk")
        assert from_disk(warm) == 3 * CHUNK
        assert {path: path.stat().st_ino for path in chunk_files(tmp_path)} == files
        other = await ask(tiny, prompt_of(900, seed=1), **EXACT, disk=str(tmp_path))
        assert from_disk(other) == 0

    run(main)


def test_tier_02_twenty_sessions_in_a_pool_for_five_keep_their_own_words(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    sessions = [prompt_of(600, seed) for seed in range(20)]
    draw = random.Random(2)

    async def main() -> None:
        room = 5 * 40 * BLOCK_BYTES
        async with tiered(tiny, **EXACT, disk=str(tmp_path), kv_memory_bytes=room) as engine:
            cold = [await answer(engine, session) for session in sessions]
            assert len({outcome.ids for outcome in cold}) == 20
            loaded = 0
            for at in draw.sample(range(20), 20):
                await answer(engine, prompt_of(50, seed=100 + at))
                back = await answer(engine, sessions[at])
                hold_exactly(cold[at], back, f"session {at}")
                loaded += from_disk(back)
            assert loaded > 10 * CHUNK

    run(main)


def test_tier_04_a_damaged_file_harms_neither_its_prompt_nor_those_after_it(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    prompts = [prompt_of(600, seed) for seed in range(6)]

    async def main() -> None:
        async with tiered(tiny, **EXACT, disk=str(tmp_path)) as engine:
            cold = [await answer(engine, prompt) for prompt in prompts]
            for path in chunk_files(tmp_path):
                path.unlink()
        await ask(tiny, prompts[0], **EXACT, disk=str(tmp_path))
        for path in chunk_files(tmp_path):
            data = bytearray(path.read_bytes())
            data[-100] ^= 1
            path.write_bytes(data)
        async with tiered(tiny, **EXACT, disk=str(tmp_path)) as engine:
            for one, prompt in zip(cold, prompts, strict=True):
                back = await answer(engine, prompt)
                hold_exactly(one, back, "after the damage")
                assert back.reuse.cached_tokens == 0
            assert dict(engine.stats().tiers[0].store.counts)["corrupt"] >= 1

    run(main)


def test_tier_06_a_stored_prompt_larger_than_what_is_free_waits_and_nothing_breaks(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    prompt = prompt_of(600)

    async def main() -> None:
        settings = {**EXACT, "disk": str(tmp_path), "kv_memory_bytes": 50 * BLOCK_BYTES}
        cold = await ask(tiny, prompt, **settings)
        async with tiered(tiny, **settings) as engine:
            long = engine.submit(request(prompt_of(300, seed=1), max_tokens=200, ignore_eos=True))
            await until_running(engine)
            back = await answer(engine, prompt)
            hold_exactly(cold, back, "in a full pool")
            assert from_disk(back) == 2 * CHUNK
            await long.aclose()
            await until_idle(engine)

    run(main)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_tier_07_every_dtype_comes_back_bit_for_bit_and_never_as_another_one(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, dtype: torch.dtype
) -> None:
    path = tiny_checkpoint("llama")
    other = torch.bfloat16 if dtype is torch.float32 else torch.float32
    prompt = prompt_of(600)

    async def main() -> None:
        cold = await ask(load(path, dtype), prompt, **EXACT, disk=str(tmp_path))
        warm = await ask(load(path, dtype), prompt, **EXACT, disk=str(tmp_path))
        hold_exactly(cold, warm, str(dtype))
        assert from_disk(warm) == 2 * CHUNK
        assert from_disk(await ask(load(path, other), prompt, **EXACT, disk=str(tmp_path))) == 0

    run(main)


def test_tier_08_other_weights_of_the_same_shape_and_name_find_nothing(
    tiny: LoadedModel, tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    other = load(tiny_checkpoint("llama", seed=1))
    prompt = prompt_of(600)

    async def main() -> None:
        await ask(tiny, prompt, **EXACT, disk=str(tmp_path))
        cold = await ask(other, prompt, **EXACT)
        back = await ask(other, prompt, **EXACT, disk=str(tmp_path))
        hold_exactly(cold, back, "other weights")
        assert from_disk(back) == 0
        assert from_disk(await ask(tiny, prompt, **EXACT, disk=str(tmp_path))) == 2 * CHUNK

    run(main)


@pytest.mark.slow
def test_tier_09_processes_with_other_hash_seeds_share_a_folder(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    code = textwrap.dedent(
        """
        import asyncio, sys
        from pathlib import Path
        from tests.failure_kinds.drive import load, prompt_of
        from tests.failure_kinds.test_tier import ask
        tiny = load(Path(sys.argv[1]))
        found = asyncio.run(ask(tiny, prompt_of(600), remote=sys.argv[2]))
        print(found.reuse.loaded.get("remote", 0), found.ids)
        """
    )

    def process(seed: str) -> tuple[str, str]:
        path = f"{REPOSITORY}:{REPOSITORY / 'src'}"
        done = subprocess.run(
            [sys.executable, "-c", code, str(tiny_checkpoint("llama")), str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        count, _, ids = done.stdout.partition(" ")
        return count, ids

    stored, found = process("1"), process("2")
    assert (stored[0], found[0]) == ("0", "512")
    assert stored[1] == found[1]


def test_tier_11_adapters_loaded_in_another_order_or_by_another_name_share_a_tier(
    tiny: LoadedModel,
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
    tmp_path: Path,
) -> None:
    base = tiny_checkpoint("llama")
    x, y = (str(tiny_adapter(base, seed=seed)) for seed in (1, 2))
    prompt = prompt_of(600)

    async def main() -> None:
        settings = {**EXACT, "disk": str(tmp_path)}
        cold = await ask(tiny, prompt, **settings, loras=(("x", x), ("y", y)), adapter="x")
        warm = await ask(tiny, prompt, **settings, loras=(("b", y), ("a", x)), adapter="a")
        hold_exactly(cold, warm, "in another order")
        assert from_disk(warm) == 2 * CHUNK

    run(main)


# ID


def test_id_03_an_adapter_finds_nothing_of_another_or_of_the_base_model_in_a_tier(
    tiny: LoadedModel,
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """The pool is new for every request, so all there is to find is in the tier."""
    base = tiny_checkpoint("llama")
    loras = tuple((f"w{seed}", str(tiny_adapter(base, seed=seed))) for seed in (1, 2))
    prompt = prompt_of(600)

    async def main() -> None:
        settings: dict[str, Any] = {**EXACT, "disk": str(tmp_path), "loras": loras}
        stored = {}
        for name in ("w1", "w2", None):
            cold = await ask(tiny, prompt, **EXACT, loras=loras, adapter=name)
            stored[name] = await ask(tiny, prompt, **settings, adapter=name)
            hold_exactly(cold, stored[name], f"adapter {name}")
            assert from_disk(stored[name]) == 0
        assert len({outcome.ids for outcome in stored.values()}) == 3
        for name, cold in stored.items():
            warm = await ask(tiny, prompt, **settings, adapter=name)
            hold_exactly(cold, warm, f"adapter {name} again")
            assert from_disk(warm) == 2 * CHUNK

    run(main)


# LIFE


def test_life_06_who_leaves_while_a_dead_peer_is_being_read_leaves_nothing_behind() -> None:
    twin = Twin("remote")
    try:
        prompt = twin_prompt(65)
        twin.run(prompt)
        twin.forget_pool()
        for _ in range(100):
            go = threading.Event()
            twin.rig.store["remote"].hooks["get"] = lambda: go.wait(WAIT)  # noqa: B023
            leaving = twin.add(prompt)
            twin.step()
            twin.drop(leaving)
            go.set()
        del twin.rig.store["remote"].hooks["get"]
        assert twin.cache.leased == 0
        twin.rig.until(lambda: twin.rig.tiers._held.bytes == 0)
        back = twin.run(prompt)
        assert back.group.reuse is not None
        assert back.group.reuse.loaded == {"remote": 64}
    finally:
        twin.close()


# PUB


def test_pub_04_an_entry_that_is_still_being_written_is_not_found(tmp_path: Path) -> None:
    """One server's writer stands still in the middle of a file; another server looks."""
    half, go = threading.Event(), threading.Event()

    class SlowFiles(FaultyFiles):
        def write(self, handle: int, view: memoryview) -> int:
            if half.is_set():
                return super().write(handle, view)
            written = super().write(handle, view[: len(view) // 2])
            half.set()
            assert go.wait(WAIT)
            return written

    writer = Twin(stores={"disk": folder_store(tmp_path, Clock(), files=SlowFiles())})
    reader = Twin(stores={"disk": folder_store(tmp_path, Clock())})
    try:
        prompt = twin_prompt(65)
        writer.run(prompt)
        assert half.wait(WAIT)
        early = reader.run(prompt)
        assert early.group.reuse is not None
        assert early.group.reuse.cached_tokens == 0
        reader.rig.drained()
        for path in chunk_files(tmp_path):
            path.unlink()
        go.set()
        reader.forget_pool()
        writer.rig.drained()
        late = reader.run(prompt)
        assert late.group.reuse is not None
        assert late.group.reuse.loaded == {"disk": 64}
    finally:
        go.set()
        writer.close()
        reader.close()


def test_pub_10_what_is_overwritten_while_it_is_read_is_a_miss(tmp_path: Path) -> None:
    files = FaultyFiles()
    clock = Clock()
    store = folder_store(tmp_path, clock, files=files)
    twin = Twin(stores={"remote": store})
    try:
        prompt = twin_prompt(65)
        twin.run(prompt)
        twin.forget_pool()
        files.piece = 100
        reads = iter(range(10**6))

        def overwrite(operation: str) -> None:
            if operation == "read" and next(reads) == 42:
                for path in chunk_files(tmp_path):
                    with path.open("r+b") as file:
                        file.seek(4096)
                        file.write(b"\x77" * 256)

        files.before = overwrite
        back = twin.run(prompt)  # `run` checks every KV it uses
        assert back.group.reuse is not None
        assert back.group.reuse.cached_tokens == 0
        assert twin.rig.counts("remote")["corrupt"] == 1
    finally:
        twin.close()


def test_pub_12_what_is_preempted_while_it_goes_down_is_stored_as_it_was() -> None:
    """The pool is reused at once, the copy that is on its way isn't."""
    twin = Twin("disk", blocks=40)
    try:
        go = threading.Event()
        twin.rig.store["disk"].hooks["put"] = lambda: go.wait(WAIT)
        prompts = [twin_prompt(30, seed) for seed in range(8)]
        for prompt in prompts:
            twin.loaded(twin.add(prompt, max_tokens=40))
        while twin.scheduler.waiting or twin.scheduler.running:
            assert twin.step()
        assert twin.scheduler.counters.preemptions > 0
        go.set()
        twin.forget_pool()
        for prompt in prompts:
            back = twin.run(prompt)
            assert back.group.reuse is not None
            assert back.group.reuse.loaded == {"disk": 24}
            twin.forget_pool()
    finally:
        twin.close()


def test_pub_13_a_slot_that_is_being_filled_is_not_given_to_another() -> None:
    """Four fill memory for half of their chunks at once; whatever is found is whole."""
    clock = Clock()
    size = 5000
    store = RamStore(memoryview(bytearray(20 * 12288)), clock=clock)
    records = [record for seed in range(40) for record in chain(1, seed=seed, size=size)]
    wrong: list[int] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(400):
            record = draw.choice(records)
            store.put(record, deadline=NEVER)
            other = draw.choice(records)
            found = store.get(SPACE, other.key, deadline=NEVER)
            if found is not None and bytes(found.payload) != other.payload:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    counts = store.stats().counts
    assert counts["evicted"] > 100
    assert counts["hit"] > 100


def test_pub_01_what_goes_down_is_what_the_step_has_written(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    """Sixteen side by side, their prefixes overlapping; then all again from the tier alone."""
    stem = prompt_of(500)
    prompts = [stem[: 256 + 10 * n] + prompt_of(400 - 10 * n, seed=n) for n in range(16)]

    async def main() -> None:
        async with tiered(tiny, **EXACT) as engine:
            cold = [await answer(engine, prompt) for prompt in prompts]
        async with tiered(tiny, **EXACT, disk=str(tmp_path)) as engine:
            await asyncio.gather(*(answer(engine, prompt) for prompt in prompts))
        assert [each.problem for each in inspect_chunks(tmp_path, verify=True)] == [""] * 17
        async with tiered(tiny, **EXACT, disk=str(tmp_path)) as engine:
            warm = await asyncio.gather(*(answer(engine, prompt) for prompt in prompts))
            for one, other in zip(cold, warm, strict=True):
                hold_exactly(one, other, "replayed")
            assert sum(from_disk(other) for other in warm) == 17 * CHUNK
            _books(engine)

    run(main)


def _books(engine: LocalEngine) -> None:
    engine.audit()
    assert engine.stats().cache.used_tokens == 0
