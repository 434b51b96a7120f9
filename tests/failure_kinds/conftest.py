"""A tiny model, loaded once, and a server of it that many tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.failure_kinds.drive import load, served
from tests.server.conftest import Live

from headstart.model.load import LoadedModel


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    """A random Llama in fp32."""
    return load(tiny_checkpoint("llama"))


@pytest.fixture(scope="session")
def live(tiny: LoadedModel) -> Iterator[Live]:
    """The server for tests that don't mind what others have cached."""
    with served(tiny, max_batch_tokens=64) as live:
        yield live
