"""The KV pool: where keys and values of every block live."""

import torch
from torch import Tensor

from headstart.model.config import ModelConfig


def kv_bytes_per_token(config: ModelConfig, dtype: torch.dtype) -> int:
    """Keys and values of one position over all layers, in bytes."""
    return 2 * config.layers * config.kv_heads * config.head_dim * dtype.itemsize


class KVPool:
    """One allocation, `[layers, 2, K, blocks * block_size, D]`: slot = block * block_size + offset.

    Slots of neighbouring blocks are neighbours, so a run of blocks is one strided view per layer.
    The memory is not touched before it is written: an idle server doesn't pay for an empty pool.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        blocks: int,
        block_size: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (config.layers, 2, config.kv_heads, blocks * block_size, config.head_dim)
        self._data = torch.empty(shape, dtype=dtype, device=device)
        self.block_size = block_size

    @property
    def nbytes(self) -> int:
        """Size of the pool in bytes."""
        return self._data.nbytes

    def layer(self, layer: int) -> tuple[Tensor, Tensor]:
        """Keys and values of a layer, each `[K, slots, D]`, as views."""
        keys, values = self._data[layer]
        return keys, values

    def write(self, layer: int, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        """Store `keys` and `values`, each `[N, K, D]`, in `slots` `[N]`."""
        pool_keys, pool_values = self.layer(layer)
        pool_keys.index_copy_(1, slots, keys.transpose(0, 1))
        pool_values.index_copy_(1, slots, values.transpose(0, 1))
