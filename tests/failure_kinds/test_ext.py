"""EXT: a tier that is down, slow, full or lying. Every answer is the cold one."""

import asyncio
import logging
import os
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engine.drive import Outcome, answer, running
from tests.engine.offload_twin import WAIT, Twin
from tests.engine.offload_twin import prompt_of as twin_prompt
from tests.engine.tiered import CHUNK, drained, events, offload_of, put_below, state, tiered
from tests.failure_kinds.drive import prompt_of
from tests.stores.faults import FaultyStore
from tests.stores.servers import listening, running_server
from tests.stores.test_real_disks import MAY_MOUNT, REPOSITORY

from headstart.cache import Reason
from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel
from headstart.stores import Address, RamStore, ValkeyStore
from headstart.stores.errors import Unavailable
from headstart.stores.tiers import LOOK_DEADLINE

SLACK = 4.0
"""Seconds a busy machine may need for an answer of the tiny model."""


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


def prompts(count: int, length: int = 600) -> list[list[int]]:
    return [prompt_of(length, seed) for seed in range(count)]


async def cold_of(loaded: LoadedModel, asked: Sequence[list[int]]) -> list[Outcome]:
    """Each answered by an engine that keeps nothing."""
    async with running(loaded, kv_memory_bytes=4 << 20, prefix_cache=False) as engine:
        return [await answer(engine, prompt) for prompt in asked]


async def timed(engine: LocalEngine, prompt: list[int], cold: Outcome) -> float:
    """Seconds of one answer, which is right."""
    begun = time.monotonic()
    assert (await answer(engine, prompt)).ids == cold.ids
    return time.monotonic() - begun


def test_ext_01_a_frozen_server_costs_its_deadline_a_few_times_then_nothing(
    tiny: LoadedModel,
) -> None:
    """It takes connections and never says a word."""

    async def main() -> None:
        asked = prompts(20, 300)
        cold = await cold_of(tiny, asked)
        with listening(lambda opened: _silent(opened)) as port:
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{port}") as engine:
                seconds = [
                    await timed(engine, prompt, one)
                    for prompt, one in zip(asked, cold, strict=True)
                ]
                assert max(seconds) < LOOK_DEADLINE + SLACK
                assert sum(seconds[5:]) < len(seconds[5:]) * LOOK_DEADLINE
                assert state(engine, "remote") == "open"
                counts = events(engine, "remote")
                assert counts["breaker_open"] >= 15
                assert counts["late"] <= 6

    run(main)


def _silent(opened: socket.socket) -> None:
    while opened.recv(65536):
        pass


@pytest.mark.parametrize(
    "error",
    ["OOM command not allowed", "READONLY replica", "MOVED 1 10.0.0.1:1", "NOAUTH login", "ERR x"],
)
def test_ext_03_whatever_error_a_server_answers_it_is_a_miss(tiny: LoadedModel, error: str) -> None:
    def refuse(opened: socket.socket) -> None:
        while data := opened.recv(1 << 20):
            for _ in range(max(1, data.count(b"EXISTS") + data.count(b"SET"))):
                opened.sendall(f"-{error}\r\n".encode())

    async def main() -> None:
        asked = prompts(3)
        cold = await cold_of(tiny, asked)
        with listening(refuse) as port:
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{port}") as engine:
                for prompt, one in zip(asked, cold, strict=True):
                    back = await answer(engine, prompt)
                    assert (back.ids, back.reuse.cached_tokens) == (one.ids, 0)
                assert sum(events(engine, "remote").values()) > 0

    run(main)


def test_ext_05_a_server_that_evicts_at_random_answers_whole_chunks_or_nothing(
    tiny: LoadedModel,
) -> None:
    async def main() -> None:
        asked = prompts(16)
        cold = await cold_of(tiny, asked)
        config = {"maxmemory": "4mb", "maxmemory-policy": "allkeys-random"}
        with running_server(**config) as server:
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{server.port}") as engine:
                for _ in range(3):
                    for prompt, one in zip(asked, cold, strict=True):
                        await timed(engine, prompt, one)
                    await drained(engine)
                    engine._cache.trim(0)
                assert engine.stats().loaded_tokens["remote"] > 0
                assert engine.stats().loaded_tokens["remote"] < 2 * 16 * 2 * CHUNK
                assert "corrupt" not in events(engine, "remote")

    run(main)


def test_ext_07_a_tier_that_promises_everything_and_gives_nothing_is_recomputed(
    tiny: LoadedModel,
) -> None:
    def liar(opened: socket.socket) -> None:
        while data := opened.recv(1 << 20):
            for command in re.findall(rb"\r\n(TOUCH|SETNX|EXISTS|GET|SET)\r\n", data):
                opened.sendall({b"GET": b"$-1\r\n", b"SET": b"+OK\r\n"}.get(command, b":1\r\n"))

    async def main() -> None:
        asked = prompts(10)
        cold = await cold_of(tiny, asked)
        with listening(liar) as port:
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{port}") as engine:
                for prompt, one in zip(asked, cold, strict=True):
                    back = await answer(engine, prompt)
                    assert (back.ids, back.reuse.cached_tokens) == (one.ids, 0)
                    assert back.reuse.miss is not None
                    assert back.reuse.miss.reason is Reason.TIER_DOWN
                assert engine.stats().tier_events["late"] == 20
                assert events(engine, "remote")["miss"] == 10

    run(main)


def test_ext_08_two_that_share_a_chunk_that_fails_compute_from_there_on() -> None:
    """Chunks 0 to 4 come, 5 fails, 6 to 9 would come again."""
    twin = Twin("remote", blocks=128)
    try:
        prompt = twin_prompt(81)
        twin.run(prompt)
        twin.forget_pool()
        failing = twin.rig.store["remote"]
        gets = iter(range(1000))

        def sixth_fails() -> None:
            if next(gets) == 5:
                raise Unavailable("gone")

        failing.hooks["get"] = sixth_fails
        both = [twin.add(prompt), twin.add([*prompt, 1, 2, 3])]
        for sequence in both:
            twin.loaded(sequence)
        while len(twin.done) < 3:
            assert twin.step()  # checks all KV that is used
        for sequence in both:
            assert sequence.group.reuse is not None
            assert sequence.group.reuse.cached_tokens >= 40
        assert both[0].group.reuse is not None
        assert both[0].group.reuse.loaded == {"remote": 40}
    finally:
        twin.close()


def test_ext_10_a_bound_is_kept_while_five_times_as_much_is_written(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    bound = 2 << 20

    async def main() -> None:
        asked = prompts(36)
        settings: dict[str, Any] = {"disk": str(tmp_path), "disk_bytes": bound}
        async with tiered(tiny, **settings) as engine:
            for prompt in asked:
                await answer(engine, prompt)
                assert _physical(tmp_path) <= bound
            await drained(engine)
            assert _physical(tmp_path) <= bound
            counts = events(engine, "disk")
            assert counts["stored"] == 72
            assert counts["evicted"] > 50
            engine._cache.trim(0)
            assert (await answer(engine, asked[-1])).reuse.loaded == {"disk": 2 * CHUNK}

    run(main)


def _physical(root: Path) -> int:
    total = 0
    for path in root.rglob("*.kv"):
        try:
            total += path.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


@pytest.mark.slow
@pytest.mark.skipif(MAY_MOUNT is None, reason="mounting isn't permitted here")
def test_ext_12_a_small_disk_and_what_a_killed_server_left_there_do_no_harm(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    """64 MB with no room to spare: nothing is written, it is counted, and old temps go."""
    code = textwrap.dedent(
        """
        import asyncio, os, sys
        from pathlib import Path
        from tests.engine.tiered import drained, events, tiered
        from tests.failure_kinds.drive import load
        from tests.failure_kinds.test_ext import cold_of, prompts, timed
        root, tiny = Path(sys.argv[1]), load(Path(sys.argv[2]))
        (root / "tmp").mkdir()
        left = root / "tmp" / f"{'a' * 64}.00.tmp"
        left.write_bytes(b"half a record")
        os.utime(left, (1, 1))
        async def main():
            asked = prompts(4)
            cold = await cold_of(tiny, asked)
            async with tiered(tiny, disk=str(root)) as engine:
                for prompt, one in zip(asked, cold, strict=True):
                    await timed(engine, prompt, one)
                await drained(engine)
                assert events(engine, "disk")["full"] > 0
            assert not left.exists()
        asyncio.run(main())
        """
    )
    shell = 'set -e; mount -t tmpfs -o size=64m none "$D"; exec "$0" -c "$1" "$D" "$M"'
    environment = {
        **os.environ,
        "D": str(tmp_path),
        "M": str(tiny_checkpoint("llama")),
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}",
    }
    command = [*(MAY_MOUNT or []), "sh", "-c", shell, sys.executable, code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_ext_14_when_everything_is_gone_between_look_and_fetch_it_is_one_miss(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A long prompt of 600 chunks: the load ends at the first that is gone, without a log."""
    twin = Twin("remote", blocks=2000, step_tokens=10_000, arena=12 << 20)
    try:
        prompt = twin_prompt(4801)
        twin.run(prompt)
        twin.forget_pool()
        under = twin.rig.store["remote"]

        def all_expire() -> None:
            under.store = RamStore(memoryview(bytearray(1 << 16)), clock=twin.rig.clock)

        under.hooks["get"] = all_expire
        with caplog.at_level(logging.WARNING):
            back = twin.run(prompt)
        assert back.group.reuse is not None
        assert back.group.reuse.cached_tokens == 0
        assert back.group.reuse.miss is not None
        assert back.group.reuse.miss.reason is Reason.TIER_DOWN
        assert under.seen.count("get") == 1
        assert len(caplog.records) <= 1
    finally:
        twin.close()


def test_ext_15_a_tier_slower_than_computing_is_left_alone_after_one_chunk(
    tiny: LoadedModel,
) -> None:
    """Both speeds are set: 0.128 s to compute a chunk, 0.3 s to read it."""

    class Throttled(FaultyStore):
        def get(self, *args: Any, **options: Any) -> Any:
            time.sleep(0.3)
            return super().get(*args, **options)

    async def main() -> None:
        asked = prompts(6, 900)
        cold = await cold_of(tiny, asked)
        async with tiered(tiny, seconds_per_token=0.0005, ram_tier_bytes=1 << 20) as engine:
            put_below(
                engine,
                slow=Throttled(RamStore(memoryview(bytearray(8 << 20)), clock=time.monotonic)),
            )
            for prompt in asked:
                await answer(engine, prompt)
            await drained(engine)
            engine._cache.trim(0)
            for prompt, one in zip(asked, cold, strict=True):
                await timed(engine, prompt, one)
            assert engine.stats().tier_events["slow_too_slow"] == len(asked) - 1
            assert engine.stats().loaded_tokens.get("slow", 0) <= CHUNK
            store = offload_of(engine).tiers._tiers[0].store
            assert store.stats().counts["hit"] == 1

    run(main)


def test_ext_03_a_server_that_dies_between_look_up_and_fetch_is_a_miss(
    tiny: LoadedModel,
) -> None:
    async def main() -> None:
        (prompt,) = prompts(1)
        (cold,) = await cold_of(tiny, [prompt])
        with running_server() as server:
            async with tiered(tiny, ram_tier_bytes=1 << 20) as engine:

                class Dies(FaultyStore):
                    def get(self, *args: Any, **options: Any) -> Any:
                        server.kill()
                        return super().get(*args, **options)

                remote = ValkeyStore(Address("127.0.0.1", server.port), clock=time.monotonic)
                put_below(engine, remote=Dies(remote))
                await answer(engine, prompt)
                await drained(engine)
                engine._cache.trim(0)
                back = await answer(engine, prompt)
                assert (back.ids, back.reuse.cached_tokens) == (cold.ids, 0)
                assert back.reuse.miss is not None
                assert back.reuse.miss.reason is Reason.TIER_DOWN

    run(main)


def test_ext_01_a_disk_that_hangs_holds_up_only_those_who_were_there_when_it_began() -> None:
    """No deadline reaches into a system call; the clock here is moved past it."""
    twin = Twin("disk", blocks=256)
    try:
        prompt = twin_prompt(65)
        twin.run(prompt)
        twin.forget_pool()
        hung, go = threading.Event(), threading.Event()
        twin.rig.store["disk"].hooks["look"] = lambda: (hung.set(), go.wait(WAIT))
        first = twin.add(prompt)
        assert hung.wait(WAIT)
        twin.rig.clock.now += 100
        while first not in twin.done:
            assert twin.step()
        for seed in range(1, 9):
            later = twin.add(twin_prompt(65, seed))
            assert later.load is None
            while later not in twin.done:
                assert twin.step()
        go.set()
    finally:
        twin.close()
