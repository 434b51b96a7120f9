"""Servers under vendors' contracts, with a clock that the tests turn."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.served import Clock, load, serving
from tests.server.conftest import Live, start_real, tiny

from headstart.engine.api import Engine
from headstart.model.load import LoadedModel

__all__ = ["start_real", "tiny"]

CONTEXT = 4096


@dataclass(frozen=True)
class Served:
    """A server and its clock."""

    live: Live
    clock: Clock


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def roomy(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    """The tiny model with room for prompts above the vendors' minimums."""
    return load(tiny_checkpoint("llama", max_position_embeddings=CONTEXT))


@pytest.fixture(scope="session")
def serve(roomy: LoadedModel) -> Iterator[Serve]:
    """`serve(wrap=None, **settings) -> Served`; `wrap` may stand in front of the engine."""
    with ExitStack() as stack:

        def start(wrap: Callable[[Engine], Any] = lambda engine: engine, **fields: Any) -> Served:
            clock = Clock()
            given = {"kv_memory_bytes": 16 << 20, **fields}
            return Served(stack.enter_context(serving(roomy, clock, wrap, **given)), clock)

        yield start


@pytest.fixture(scope="module")
def clock() -> Clock:
    """One that a module's servers share."""
    return Clock()
