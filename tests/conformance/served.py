"""A server with vendors' names and a clock that tests move."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from tests.server.conftest import Live, on_a_socket

from headstart.engine.build import build_engine
from headstart.model.load import load_model
from headstart.server.app import create_app
from headstart.server.books import open_store
from headstart.settings import Settings

NAME = "tiny"
START = 1_800_000_000.0


@dataclass
class Clock:
    """The clock of the contracts, in seconds since the epoch."""

    now: float = START

    def __call__(self) -> float:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += 60 * minutes


@contextmanager
def serving(checkpoint: Path, clock: Clock, **fields: object) -> Iterator[Live]:
    """The real engine on a tiny model with room for contracts' minimums."""
    torch.set_num_threads(1)
    model = load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))
    given = {
        "dtype": "float32",
        "served_model_name": NAME,
        "kv_memory_bytes": 64 << 20,
        "drain_seconds": 0,
        **fields,
    }
    settings = Settings(**given)  # type: ignore[arg-type]
    engine = build_engine(model, settings)
    with open_store(settings) as store:
        app = create_app(engine, model.codec, settings, store=store, now=clock)
        with on_a_socket(app, settings, engine) as url:
            yield Live(url, engine, model.codec)
