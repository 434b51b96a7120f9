"""Servers under vendors' contracts, with a clock that the tests turn."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.server.conftest import Live, on_a_socket, start_real, tiny

from headstart.engine.api import Engine
from headstart.engine.build import build_engine
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.books import open_store
from headstart.settings import Settings

__all__ = ["start_real", "tiny"]

CONTEXT = 4096


@dataclass
class Clock:
    """The contracts' clock."""

    now: float = 1_796_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@dataclass(frozen=True)
class Served:
    """A server and its clock."""

    live: Live
    clock: Clock


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def roomy(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    """The tiny model with room for prompts above the vendors' minimums."""
    torch.set_num_threads(1)
    path = tiny_checkpoint("llama", max_position_embeddings=CONTEXT)
    return load_model(str(path), dtype=torch.float32, device=torch.device("cpu"))


@pytest.fixture(scope="session")
def serve(roomy: LoadedModel) -> Iterator[Serve]:
    """`serve(wrap=None, **settings) -> Served`; `wrap` may stand in front of the engine."""
    with ExitStack() as stack:

        def start(wrap: Callable[[Engine], Any] = lambda engine: engine, **fields: Any) -> Served:
            defaults = Settings(
                dtype="float32", served_model_name="tiny", kv_memory_bytes=16 << 20, drain_seconds=0
            )
            settings = replace(defaults, **fields)
            engine = wrap(build_engine(roomy, settings))
            clock = Clock()
            store = stack.enter_context(open_store(settings))
            app = create_app(engine, roomy.codec, settings, store=store, now=clock)
            url = stack.enter_context(on_a_socket(app, settings, engine))
            return Served(Live(url, engine, roomy.codec), clock)

        yield start


@pytest.fixture(scope="module")
def clock() -> Clock:
    """One that a module's servers share."""
    return Clock()
