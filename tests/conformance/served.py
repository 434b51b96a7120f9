"""A server with vendors' names and a clock that tests move."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tests.server.conftest import Live, on_a_socket

from headstart.engine.api import CacheStats, Engine
from headstart.engine.build import build_engine
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.books import open_log, open_store
from headstart.settings import Settings

NAME = "tiny"
START = 1_800_000_000.0


@dataclass
class Clock:
    """The clock of the contracts, in seconds since the epoch. Tests move it."""

    now: float = START

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def load(checkpoint: Path) -> LoadedModel:
    return load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))


def touched(engine: Engine) -> CacheStats:
    """What any use of the cache changes, without what the last minute's passing does."""
    return replace(engine.stats().cache, recent_prompt_tokens=0, recent_hit_tokens=0)


@contextmanager
def serving(
    model: LoadedModel,
    clock: Clock,
    wrap: Callable[[Engine], Any] = lambda engine: engine,
    **fields: Any,
) -> Iterator[Live]:
    """The real engine; `wrap` may stand in front of it."""
    defaults = Settings(
        dtype="float32", served_model_name=NAME, kv_memory_bytes=64 << 20, drain_seconds=0
    )
    settings = replace(defaults, **fields)
    engine = wrap(build_engine(model, settings))
    with open_store(settings) as store, open_log(settings) as log:
        app = create_app(engine, model.codec, settings, store=store, log=log, now=clock)
        with on_a_socket(app, settings, engine) as url:
            yield Live(url, engine, model.codec)
