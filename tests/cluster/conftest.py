"""Servers that publish KV events, and those who follow them."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.cluster.listener import Listener
from tests.server.conftest import MODEL, Live, on_a_socket

from headstart.engine.build import build_engine
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.publishing import publishing
from headstart.settings import Settings


@dataclass(frozen=True)
class Place:
    """A pair of addresses nobody else has."""

    events: str
    replay: str


@dataclass(frozen=True)
class Publishing:
    """A server and where its events are."""

    live: Live
    place: Place


@pytest.fixture
def place() -> Iterator[Place]:
    # Not `tmp_path`: the path of a socket may be 107 bytes long.
    with tempfile.TemporaryDirectory() as directory:
        yield Place(f"ipc://{directory}/events", f"ipc://{directory}/replay")


@pytest.fixture
def listen(place: Place) -> Iterator[Callable[..., Listener]]:
    """`listen(**options) -> Listener` at `place`."""
    with ExitStack() as stack:

        def start(**options: Any) -> Listener:
            listener = Listener(place.events, place.replay, **options)
            stack.callback(listener.close)
            return listener

        yield start


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load_model(
        str(tiny_checkpoint("llama")), dtype=torch.float32, device=torch.device("cpu")
    )


@pytest.fixture
def start(tiny: LoadedModel, place: Place) -> Iterator[Callable[..., Publishing]]:
    """`start(**settings) -> Publishing`: the real engine on a tiny model."""
    with ExitStack() as stack:

        def begin(**fields: Any) -> Publishing:
            settings = replace(
                Settings(
                    dtype="float32",
                    served_model_name=MODEL,
                    kv_memory_bytes=8 << 20,
                    drain_seconds=0,
                    kv_events=place.events,
                    kv_events_replay=place.replay,
                ),
                **fields,
            )
            publish = stack.enter_context(publishing(settings))
            engine = build_engine(tiny, settings)
            publish(engine)
            app = create_app(engine, tiny.codec, settings)
            url = stack.enter_context(on_a_socket(app, settings, engine))
            return Publishing(Live(url, engine, tiny.codec), place)

        yield begin
