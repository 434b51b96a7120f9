"""Random weights for a config: to measure shapes whose checkpoint isn't at hand."""

import zlib
from collections.abc import Set
from math import prod

import torch
from torch import Tensor

from headstart.model.config import ModelConfig
from headstart.model.inventory import inventory

SEED = 0
_SCALE = 0.02
"""Standard deviation of the weights, the usual one of initialisation."""
_NOISE = 1_048_583
"""Random numbers really drawn; a prime, so that rows of no tensor line up when they repeat."""


class DummySource:
    """A TensorSource of seeded noise. Drawing 8 billion normal numbers takes minutes, so the same
    million is laid over every tensor from a place that its name decides; norms are 1.
    """

    def __init__(self, config: ModelConfig, seed: int = SEED) -> None:
        self._shapes = inventory(config)
        generator = torch.Generator().manual_seed(seed)
        self._noise = torch.randn(_NOISE, generator=generator) * _SCALE

    def names(self) -> Set[str]:
        """All that the config asks for."""
        return self._shapes.keys()

    def read(self, name: str) -> Tensor:
        """The tensor in fp32."""
        shape = self._shapes[name]
        if name.endswith("norm.weight"):
            return torch.ones(shape)
        noise = self._noise.roll(zlib.crc32(name.encode()) % _NOISE)
        return noise.repeat(-(-prod(shape) // _NOISE))[: prod(shape)].reshape(shape)
