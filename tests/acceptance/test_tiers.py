"""Issue 3, "done when" 4: a tier makes things faster or changes nothing. With real servers."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance.compare import Comparison, hold_exactly
from tests.engine.drive import Outcome, answer, running
from tests.engine.tiered import CHUNK, drained, events, put_below, state, tiered
from tests.failure_kinds.drive import load, prompt_of
from tests.server.test_run import Process
from tests.stores.build import chunk_files
from tests.stores.faults import FaultyStore
from tests.stores.servers import running_server
from tests.stores.test_real_disks import MAY_MOUNT, REPOSITORY

from headstart.engine.api import EngineStopped
from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.load import LoadedModel
from headstart.settings import Settings
from headstart.stores import RamStore
from headstart.stores.inspect import chunks as inspect_chunks

pytestmark = pytest.mark.slow

LENGTHS = (1, 255, 256, 257, 258, 300, 511, 512, 513, 600, 768, 769, 900)
PROMPTS = [prompt_of(length) for length in LENGTHS]
KILLS = int(os.environ.get("HEADSTART_KILLS", "3"))
"""Of the server. By hand: 100."""


@pytest.fixture(scope="module")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load(tiny_checkpoint("llama"))


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


async def ask(engine: LocalEngine, prompts: Sequence[list[int]], **fields: Any) -> list[Outcome]:
    return [await answer(engine, prompt, **fields) for prompt in prompts]


def cold_of(
    loaded: LoadedModel,
    prompts: Sequence[list[int]],
    *,
    deterministic: bool = False,
    max_tokens: int = 8,
) -> list[Outcome]:
    """Each answered by an engine that keeps nothing."""

    async def main() -> list[Outcome]:
        settings: dict[str, Any] = {"deterministic": deterministic, "kv_memory_bytes": 4 << 20}
        async with running(loaded, prefix_cache=False, **settings) as engine:
            return await ask(engine, prompts, max_tokens=max_tokens)

    return asyncio.run(main())


def whole_chunks(length: int) -> int:
    """What comes back of a prompt that is on disk, in deterministic mode."""
    return (length - 1) // CHUNK * CHUNK


# After a restart


def test_in_deterministic_mode_answers_from_the_disk_are_the_cold_ones_bit_for_bit(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    settings = {"deterministic": True, "disk": str(tmp_path)}

    async def main() -> None:
        async with tiered(tiny, **settings) as engine:
            cold = await ask(engine, PROMPTS)
        for _ in range(2):
            async with tiered(tiny, **settings) as engine:
                warm = await ask(engine, PROMPTS)
                for length, one, other in zip(LENGTHS, cold, warm, strict=True):
                    hold_exactly(one, other, f"{length} tokens")
                    back = whole_chunks(length)
                    assert other.account == (length, back)
                    assert other.reuse.loaded == ({"disk": back} if back else {})

    run(main)


def test_answers_from_the_disk_agree_with_the_cold_ones_and_are_cut_at_chunks_only(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    async def main() -> None:
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            cold = await ask(engine, PROMPTS)
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            comparison = Comparison()
            for length, one, prompt in zip(LENGTHS, cold, PROMPTS, strict=True):
                warm = await answer(engine, prompt)
                comparison.hold(one, warm, f"{length} tokens")
                assert warm.reuse.cached_tokens == min(length // CHUNK * CHUNK, length - 1)

    run(main)


def test_written_back_when_the_server_ends_answers_are_the_cold_ones_after_a_restart(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    settings = {"deterministic": True, "disk": str(tmp_path), "tier_write": "back"}

    async def main() -> None:
        async with tiered(tiny, **settings) as engine:
            cold = await ask(engine, PROMPTS)
            await drained(engine)
            assert chunk_files(tmp_path) == []
        async with tiered(tiny, **settings) as engine:
            for length, one, prompt in zip(LENGTHS, cold, PROMPTS, strict=True):
                warm = await answer(engine, prompt)
                hold_exactly(one, warm, f"{length} tokens")
                assert warm.reuse.loaded.get("disk", 0) == whole_chunks(length)

    run(main)


def test_written_back_when_it_leaves_the_pool_answers_are_the_cold_ones(
    tiny: LoadedModel,
) -> None:
    """Four prompts of three chunks in a pool for one and a half of them."""
    prompts = [prompt_of(800, seed) for seed in range(4)]
    settings = {"deterministic": True, "kv_memory_bytes": 1200 * 512, "ram_tier_bytes": 32 << 20}

    async def main() -> None:
        async with tiered(tiny, tier_write="back", **settings) as engine:
            cold = await ask(engine, prompts)
            await drained(engine)
            loaded = 0
            for one, prompt in zip(cold, prompts, strict=True):
                warm = await answer(engine, prompt)
                hold_exactly(one, warm, "after it left")
                loaded += warm.reuse.loaded.get("ram", 0)
                await drained(engine)
            assert loaded >= 3 * 768 - 768

    run(main)


def test_an_engine_whose_books_are_wrong_writes_nothing_back_when_it_ends(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        engine = build_engine(tiny, Settings(disk=str(tmp_path), tier_write="back"))
        await answer(engine, PROMPTS[-1])

        def broken(now: float) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(engine._scheduler, "plan", broken)
        with pytest.raises(EngineStopped):
            await answer(engine, PROMPTS[-1])
        await engine.aclose(5.0)
        assert chunk_files(tmp_path) == []

    run(main)


@pytest.mark.parametrize(("block_size", "chunk"), [(1, 256), (784, 784)])
def test_unusual_block_sizes_come_back_bit_for_bit_too(
    tiny: LoadedModel, tmp_path: Path, block_size: int, chunk: int
) -> None:
    prompt = prompt_of(900)
    settings = {"deterministic": True, "disk": str(tmp_path), "block_size": block_size}

    async def main() -> None:
        async with tiered(tiny, **settings) as engine:
            cold = await answer(engine, prompt)
        async with tiered(tiny, **settings) as engine:
            warm = await answer(engine, prompt)
        hold_exactly(cold, warm, f"blocks of {block_size}")
        assert warm.reuse.loaded == {"disk": 899 // chunk * chunk}

    run(main)


def test_a_pool_too_small_for_two_prompts_gets_them_back_from_memory(tiny: LoadedModel) -> None:
    prompts = [prompt_of(700, seed) for seed in range(6)]
    cold = cold_of(tiny, prompts)

    async def main() -> None:
        async with tiered(tiny, kv_memory_bytes=50 * 16 * 512, ram_tier_bytes=16 << 20) as engine:
            await ask(engine, prompts)
            await drained(engine)
            for one, prompt in zip(cold, prompts, strict=True):
                back = await answer(engine, prompt)
                assert back.reuse.cached_tokens == 512
                assert back.reuse.loaded["ram"] > 512 - 6 * 16  # The rest was in the pool.
                assert back.ids == one.ids

    run(main)


def test_a_reset_holds_over_a_restart(tiny: LoadedModel, tmp_path: Path) -> None:
    prompt = PROMPTS[-1]

    async def cached() -> int:
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            first = (await answer(engine, prompt)).reuse.cached_tokens
            again = await answer(engine, prompt)
            assert again.reuse.cached_tokens == len(prompt) - 1
            return first

    async def main() -> None:
        assert await cached() == 0
        assert await cached() == 768
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            engine.reset_cache()
        assert await cached() == 0
        assert await cached() == 768
        (tmp_path / "generation").write_bytes(b"\xff\xff")
        assert await cached() == 0
        assert await cached() == 768

    run(main)


@pytest.mark.parametrize("kind", ["folder", "server"])
def test_a_reset_holds_over_a_restart_also_where_only_a_remote_can_tell(
    tiny: LoadedModel, tmp_path: Path, kind: str
) -> None:
    """Others who share the remote keep theirs as long as they run."""
    prompt = PROMPTS[-1]

    async def cached(remote: str) -> int:
        async with tiered(tiny, remote=remote) as engine:
            first = (await answer(engine, prompt)).reuse.cached_tokens
            await drained(engine)
            return first

    async def main(remote: str) -> None:
        assert await cached(remote) == 0
        assert await cached(remote) == 768
        async with tiered(tiny, remote=remote) as one, tiered(tiny, remote=remote) as other:
            one.reset_cache()
            assert (await answer(one, prompt)).reuse.cached_tokens == 0
            assert (await answer(other, prompt)).reuse.loaded == {"remote": 768}
            await drained(one)
            other.reset_cache()
            assert (await answer(other, prompt)).reuse.cached_tokens == 0
            await drained(other)
        assert await cached(remote) == 768  # What was computed after the last reset.
        async with tiered(tiny, remote=remote) as engine:
            engine.reset_cache()
        assert await cached(remote) == 0

    if kind == "folder":
        run(lambda: main(str(tmp_path)))
    else:
        with running_server(save="") as server:
            run(lambda: main(f"valkey://127.0.0.1:{server.port}"))


def test_without_the_prefix_cache_nothing_comes_up_from_a_tier_either(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    async def main() -> None:
        async with tiered(tiny, disk=str(tmp_path)) as engine:
            await answer(engine, PROMPTS[-1])
        async with running(tiny, disk=str(tmp_path), prefix_cache=False) as engine:
            assert (await answer(engine, PROMPTS[-1])).reuse.cached_tokens == 0
            assert engine.stats().tiers == ()

    run(main)


# Damage


def flip(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flipped": flip,
    "truncated": lambda data, draw: data[: draw.randrange(1, len(data))],
    "empty": lambda data, draw: b"",
    "too long": lambda data, draw: data + b"x",
    "foreign": lambda data, draw: draw.randbytes(len(data)),
    "of another version": lambda data, draw: data[:8] + b"\x63\x00" + data[10:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_misses_and_the_good_ones_before_them_are_used(
    tiny: LoadedModel, tmp_path: Path, damage: str
) -> None:
    prompts = [prompt_of(900, seed) for seed in range(8)]
    draw = random.Random(damage)
    cold = cold_of(tiny, prompts, deterministic=True)

    async def main() -> None:
        settings = {"deterministic": True, "disk": str(tmp_path)}
        async with tiered(tiny, **settings) as engine:
            await ask(engine, prompts)
        files = chunk_files(tmp_path)
        assert len(files) == 8 * 3
        for path in files:
            if draw.random() < 0.4:
                path.write_bytes(DAMAGE[damage](path.read_bytes(), draw))
        async with tiered(tiny, **settings) as engine:
            loaded = 0
            for one, prompt in zip(cold, prompts, strict=True):
                warm = await answer(engine, prompt)
                hold_exactly(one, warm, damage)
                loaded += warm.reuse.cached_tokens
                assert warm.reuse.cached_tokens == warm.reuse.loaded.get("disk", 0)
            assert 0 < loaded < 8 * 768
        # What was found damaged is written again; behind it more may be found.
        for _ in range(3):
            async with tiered(tiny, **settings) as engine:
                warm = await ask(engine, prompts)
        assert [each.reuse.cached_tokens for each in warm] == [768] * 8

    run(main)


def test_files_that_changed_places_are_told_by_their_key(tiny: LoadedModel, tmp_path: Path) -> None:
    prompts = [prompt_of(900, seed) for seed in range(2)]
    cold = cold_of(tiny, prompts, deterministic=True)

    async def main() -> None:
        settings = {"deterministic": True, "disk": str(tmp_path)}
        async with tiered(tiny, **settings) as engine:
            await ask(engine, prompts)
        files = chunk_files(tmp_path)
        contents = [path.read_bytes() for path in files]
        for path, content in zip(files, contents[1:] + contents[:1], strict=True):
            path.write_bytes(content)
        async with tiered(tiny, **settings) as engine:
            for one, prompt in zip(cold, prompts, strict=True):
                warm = await answer(engine, prompt)
                hold_exactly(one, warm, "swapped")
                assert warm.reuse.cached_tokens == 0

    run(main)


# Disks that are no use


def on_a_mount(setup: str, script: str, folder: Path, model: Path) -> None:
    """Run `script` in a process of its own after `setup` mounted something on `folder`."""
    code = textwrap.dedent(
        """
        import asyncio, subprocess, sys
        from pathlib import Path
        from tests.acceptance.compare import hold_exactly
        from tests.acceptance.test_tiers import ask, cold_of
        from tests.engine.drive import answer
        from tests.engine.tiered import drained, events, state, tiered
        from tests.failure_kinds.drive import load, prompt_of
        root, model = Path(sys.argv[1]), Path(sys.argv[2])
        tiny = load(model)
        prompts = [prompt_of(900, seed) for seed in range(6)]
        cold = cold_of(tiny, prompts, deterministic=True)
        settings = {"deterministic": True, "disk": str(root)}
        """
    ) + textwrap.dedent(script)
    shell = f'set -e; {setup}; exec "$0" -c "$1" "$D" "$M"'
    command = [*(MAY_MOUNT or []), "sh", "-c", shell, sys.executable, code]
    path = f"{REPOSITORY}:{REPOSITORY / 'src'}"
    environment = {**os.environ, "D": str(folder), "M": str(model), "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


needs_mount = pytest.mark.skipif(MAY_MOUNT is None, reason="mounting isn't permitted here")


@needs_mount
def test_a_disk_that_is_full_changes_no_answer_and_is_counted(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    on_a_mount(
        'mount -t tmpfs -o size=1m none "$D"',
        """
        async def main():
            for _ in range(2):
                async with tiered(tiny, **settings) as engine:
                    for one, prompt in zip(cold, prompts, strict=True):
                        hold_exactly(one, await answer(engine, prompt), "full")
                    await drained(engine)
                    assert events(engine, "disk")["full"] > 0
                    assert state(engine, "disk") == "closed"
        asyncio.run(main())
        """,
        tmp_path,
        tiny_checkpoint("llama"),
    )


@needs_mount
def test_a_disk_that_became_read_only_is_read_and_changes_no_answer(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    on_a_mount(
        'mount -t tmpfs -o size=2g none "$D"',
        """
        async def main():
            async with tiered(tiny, **settings) as engine:
                await ask(engine, prompts[:3])
            subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
            async with tiered(tiny, **settings) as engine:
                for one, prompt in zip(cold, prompts, strict=True):
                    hold_exactly(one, await answer(engine, prompt), "read-only")
                assert engine.stats().loaded_tokens == {"disk": 3 * 768}
                await drained(engine)
                assert events(engine, "disk")["read_only"] > 0
        asyncio.run(main())
        """,
        tmp_path,
        tiny_checkpoint("llama"),
    )


def test_a_slow_tier_turns_itself_off_and_costs_no_more_than_a_chunk(tiny: LoadedModel) -> None:
    """Reading a chunk takes 0.4 s where computing it is said to take 0.256 s."""
    prompts = [prompt_of(900, seed) for seed in range(5)]
    cold = cold_of(tiny, prompts)

    async def main() -> None:
        async with tiered(tiny, seconds_per_token=0.001, ram_tier_bytes=1 << 20) as engine:
            store = FaultyStore(RamStore(memoryview(bytearray(16 << 20)), clock=time.monotonic))
            put_below(engine, ram=store)
            await ask(engine, prompts)
            engine._cache.trim(0)
            slow_gets, reads = store.get, [0]

            def get(*args: Any, **options: Any) -> Any:
                reads[-1] += 1
                time.sleep(0.4)
                return slow_gets(*args, **options)

            store.get = get  # type: ignore[method-assign]
            for one, prompt in zip(cold, prompts, strict=True):
                assert (await answer(engine, prompt)).ids == one.ids
                reads.append(0)
            # All three chunks may take 0.8 of the 0.768 s that computing them would: the second
            # may have begun by then.
            assert 1 <= reads[0] <= 2
            assert sum(reads[1:]) == 0
            assert engine.stats().tier_events["ram_too_slow"] == 4

    run(main)


# A server that is no use

BUSY = 5.0
"""Seconds an answer of the tiny model may take where other tests run beside it."""


@pytest.fixture
def herd(tiny: LoadedModel) -> tuple[list[list[int]], list[Outcome]]:
    prompts = [prompt_of(600, seed) for seed in range(12)]
    return prompts, cold_of(tiny, prompts)


async def timed(
    engine: LocalEngine, prompts: Sequence[list[int]], cold: Sequence[Outcome]
) -> list[float]:
    """Seconds per answer; every answer is right."""
    seconds = []
    for one, prompt in zip(cold, prompts, strict=False):
        begun = time.monotonic()
        assert (await answer(engine, prompt)).ids == one.ids
        seconds.append(time.monotonic() - begun)
    return seconds


@pytest.mark.parametrize("trouble", ["killed", "hung"])
def test_a_server_in_trouble_costs_its_deadline_a_few_times_and_is_used_again_after(
    tiny: LoadedModel, herd: tuple[list[list[int]], list[Outcome]], trouble: str
) -> None:
    prompts, cold = herd

    async def main() -> None:
        with running_server() as server:
            remote = f"valkey://127.0.0.1:{server.port}"
            async with tiered(tiny, remote=remote) as engine:
                await ask(engine, prompts)
            async with tiered(tiny, remote=remote) as engine:
                assert max(await timed(engine, prompts[:2], cold)) < BUSY
                assert engine.stats().loaded_tokens == {"remote": 1024}
                server.kill() if trouble == "killed" else server.freeze()
                seconds = await timed(engine, prompts[2:], cold[2:])
                # 0.5 s to be told what is there, not what is left of a write's 10 s elsewhere; and
                # no wait any more, which would be 0.5 s each time.
                assert max(seconds) < BUSY
                assert sum(seconds[6:]) < len(seconds[6:]) * 0.5
                assert state(engine, "remote") == "open"
                assert events(engine, "remote")["breaker_open"] > 0
                engine._cache.trim(0)
                server.restart() if trouble == "killed" else server.thaw()
                deadline = time.monotonic() + 45
                while state(engine, "remote") != "closed":
                    assert time.monotonic() < deadline, "it was never used again"
                    engine._cache.trim(0)
                    await timed(engine, prompts[:1], cold)
                    await asyncio.sleep(0.5)
                engine._cache.trim(0)
                await timed(engine, prompts, cold)
                await drained(engine)
                engine._cache.trim(0)
                before = engine.stats().loaded_tokens["remote"]
                await timed(engine, prompts, cold)
                assert engine.stats().loaded_tokens["remote"] > before

    run(main)


def test_a_server_that_is_down_at_the_start_is_used_once_it_is_up(
    tiny: LoadedModel, herd: tuple[list[list[int]], list[Outcome]]
) -> None:
    prompts, cold = herd

    async def main() -> None:
        with running_server() as server:
            server.kill()
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{server.port}") as engine:
                assert max(await timed(engine, prompts, cold)) < BUSY
                server.restart()
                deadline = time.monotonic() + 45
                while not engine.stats().loaded_tokens.get("remote"):
                    assert time.monotonic() < deadline, "it was never used"
                    engine._cache.trim(0)
                    await timed(engine, prompts[:1], cold)
                    await asyncio.sleep(0.5)

    run(main)


def test_a_server_that_evicts_or_forgets_everything_changes_no_answer(
    tiny: LoadedModel, herd: tuple[list[list[int]], list[Outcome]]
) -> None:
    prompts, cold = herd

    async def main() -> None:
        with running_server(maxmemory="4mb", **{"maxmemory-policy": "allkeys-random"}) as server:
            async with tiered(tiny, remote=f"valkey://127.0.0.1:{server.port}") as engine:
                for _ in range(4):
                    await timed(engine, prompts, cold)
                    await drained(engine)
                    engine._cache.trim(0)
                assert engine.stats().loaded_tokens["remote"] > 0
                server.client().flushall()
                await timed(engine, prompts, cold)
                assert state(engine, "remote") == "closed"

    run(main)


# kill -9


class Killed:
    """A server on a folder, killed again and again while it writes."""

    def __init__(self, model: Path, folder: Path, prompts: int) -> None:
        self.draw = random.Random(11)
        self.folder = folder
        self.prompts = [prompt_of(self.draw.randrange(520, 1000), s) for s in range(prompts)]
        loaded = load(model)
        self.cold = [
            each.text for each in cold_of(loaded, self.prompts, deterministic=True, max_tokens=6)
        ]
        self.arguments = ("--model", str(model), "--served-model-name", "tiny", "--deterministic")
        self.arguments += ("--dtype", "float32", "--kv-memory", "8MiB", "--threads", "1")
        self.arguments += ("--port", "0", "--disk", str(folder), "--disk-bytes", "12MiB")
        self.answers = self.hits = self.temps = 0

    def round(self) -> None:
        """Start, ask in parallel, kill at a random moment, check what was answered."""
        process = Process(*self.arguments)
        try:
            url = process.url()
            asked = self.draw.sample(range(len(self.prompts)), 20)
            with ThreadPoolExecutor(6) as pool:
                answers = [pool.submit(self._ask, url, number) for number in asked]
                time.sleep(self.draw.uniform(0.1, 1.2))
                process.popen.send_signal(signal.SIGKILL)
                for each in answers:
                    self.hits += each.result()
        finally:
            process.status()
        assert "Traceback" not in process.output, process.output
        self.temps += len(list(self.folder.glob("tmp/*")))
        assert [
            each.problem for each in inspect_chunks(self.folder, verify=True) if each.problem
        ] == []

    def _ask(self, url: str, number: int) -> int:
        """Tokens that came from the disk: every prompt is asked once per process."""
        body = {"model": "tiny", "prompt": self.prompts[number], "max_tokens": 6}
        try:
            with httpx.Client(trust_env=False, timeout=30) as http:
                response = http.post(f"{url}/v1/completions", json={**body, "temperature": 0})
        except httpx.TransportError:
            return 0
        assert response.status_code == 200, response.text
        data = response.json()
        assert data["choices"][0]["text"] == self.cold[number], "a wrong answer"
        self.answers += 1
        cached = data["usage"]["prompt_tokens_details"]["cached_tokens"]
        assert cached in (0, 256, 512, 768)
        return int(cached)


@pytest.mark.timeout(1000)
def test_killed_at_any_moment_while_it_writes_it_starts_again_and_answers_right(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    killed = Killed(tiny_checkpoint("llama"), tmp_path, prompts=60)
    for _ in range(KILLS):
        killed.round()
    told = f"{KILLS} kills, {killed.answers} answers, {killed.hits} tokens from disk"
    print(f"{told}, {killed.temps} temps seen")
    assert killed.answers > KILLS, told
    assert killed.hits > 0, told


def test_a_signal_to_end_writes_down_what_is_queued(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    killed = Killed(tiny_checkpoint("llama"), tmp_path, prompts=20)
    process = Process(*killed.arguments)
    try:
        url = process.url()
        for number in range(20):
            killed._ask(url, number)
        process.popen.send_signal(signal.SIGTERM)
    finally:
        assert process.status() == 0
    expected = sum(len(prompt) // CHUNK for prompt in killed.prompts)
    assert len(chunk_files(tmp_path)) == expected
    assert list(tmp_path.glob("tmp/*")) == []
