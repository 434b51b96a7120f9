"""A tiny model, loaded once, and prompts for it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from headstart.model.load import LoadedModel, load_model


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    """A random Llama in fp32."""
    path = tiny_checkpoint("llama")
    return load_model(str(path), dtype=torch.float32, device=torch.device("cpu"))
