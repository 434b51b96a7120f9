"""Real engines and real servers for one test or one module, their books checked at the end."""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tests.engine.drive import Outcome, answer, running
from tests.server.conftest import MODEL, Live, on_a_socket
from torch import Tensor

from headstart.engine.build import build_engine
from headstart.engine.core import LocalEngine
from headstart.model.kv import kv_bytes_per_token
from headstart.model.load import LoadedModel, load_model
from headstart.model.runner import Slice
from headstart.server.app import create_app
from headstart.server.books import open_store
from headstart.server.shared import read_shared, tokenised
from headstart.settings import Settings

BLOCK = 16
BLOCK_BYTES = BLOCK * 512
"""Of the tiny Llama in fp32: keys and values of 2 layers, 2 heads, 16 dimensions."""


def load(path: Path, dtype: torch.dtype = torch.float32) -> LoadedModel:
    """A tiny model."""
    return load_model(str(path), dtype=dtype, device=torch.device("cpu"))


def prompt_of(length: int, seed: int = 0) -> list[int]:
    """Ordinary tokens; prompts of different seeds or lengths share hardly more than by chance."""
    draw = random.Random(f"{seed} {length}")
    return [draw.randrange(3, 380) for _ in range(length)]


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def on_engine(
    loaded: LoadedModel,
    test: Callable[[LocalEngine], Coroutine[Any, Any, None]],
    *,
    blocks: int = 128,
    **settings: Any,
) -> None:
    """Run `test` on an engine with a pool of `blocks` blocks; nothing may be left in it after."""

    async def main() -> None:
        block_size = settings.get("block_size", BLOCK)
        per_token = kv_bytes_per_token(loaded.config, loaded.weights.embed.dtype)
        room = blocks * block_size * per_token
        async with running(loaded, kv_memory_bytes=room, **settings) as engine:
            assert engine.stats().cache.capacity_tokens == blocks * block_size
            await test(engine)

    asyncio.run(main())


def cold_answers(
    loaded: LoadedModel, prompts: Sequence[Sequence[int]], **fields: Any
) -> list[Outcome]:
    """What each prompt is answered by itself, on an engine that caches nothing."""
    outcomes: list[Outcome] = []

    async def test(engine: LocalEngine) -> None:
        for prompt in prompts:
            outcomes.append(await answer(engine, prompt, **fields))
            assert outcomes[-1].reuse.cached_tokens == 0

    on_engine(loaded, test, prefix_cache=False)
    return outcomes


@contextmanager
def served(loaded: LoadedModel, **fields: Any) -> Iterator[Live]:
    """A server on a socket; at the end it must be idle and its books in order."""
    defaults = Settings(dtype="float32", served_model_name=MODEL, drain_seconds=0)
    settings = replace(defaults, **{"kv_memory_bytes": 256 * BLOCK_BYTES, **fields})
    declared = read_shared(settings.shared_prefixes)
    engine = build_engine(loaded, settings, tokenised(declared, loaded.codec, settings.block_size))
    with (
        open_store(settings) as store,
        on_a_socket(
            create_app(engine, loaded.codec, settings, store=store), settings, engine
        ) as url,
    ):
        yield Live(url, engine, loaded.codec)
        deadline = time.monotonic() + 10
        while engine.stats().running or engine.stats().waiting:
            assert time.monotonic() < deadline, "a request is left behind"
            time.sleep(0.01)
        engine.audit()
        assert engine.stats().cache.used_tokens == 0


class StepGate:
    """Stands before the engine's real runner and holds the thread there at one chosen step."""

    def __init__(self, engine: LocalEngine, *, hold_at: int) -> None:
        self._real = engine._runner.run
        self._hold_at = hold_at
        self._steps = 0
        self._held = threading.Event()
        self._open = threading.Event()
        engine._runner.run = self  # type: ignore[method-assign]

    def __call__(self, slices: Sequence[Slice]) -> Tensor:
        self._steps += 1
        if self._steps == self._hold_at:
            self._held.set()
            assert self._open.wait(30), "nobody opened the gate"
        return self._real(slices)

    async def held(self) -> None:
        """Wait until the step is about to compute: planned, its blocks taken, nothing written."""
        assert await asyncio.to_thread(self._held.wait, 30), "the step never came"

    def open(self) -> None:
        """Let it compute."""
        self._open.set()
