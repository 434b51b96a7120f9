"""The KV pool: where keys and values of every block live."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from headstart.model.config import ModelConfig

Buffer = bytes | bytearray | memoryview


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

    def copy_all(self, copies: Iterable[tuple[int, int, int]]) -> None:
        """In order, copy the first positions of one block to another, in all layers.

        `copies`: (source block, target block, tokens).
        """
        for source, target, tokens in copies:
            if source != target:
                read, write = source * self.block_size, target * self.block_size
                part = self._data[..., read : read + tokens, :]
                self._data[..., write : write + tokens, :] = part

    def read_blocks(self, blocks: Sequence[int]) -> memoryview:
        """A copy of whole blocks, `[layers, 2, K, tokens, D]` as bytes, on the host."""
        return self._gather(blocks).view(torch.uint8).flatten().numpy().data

    def write_blocks(self, blocks: Sequence[int], data: Buffer, skip: int = 0) -> None:
        """Write what `read_blocks` gave, from its block `skip` on, into `blocks`."""
        size = self.block_size
        shape = list(self._data.shape)
        shape[3] = (skip + len(blocks)) * size
        source = torch.frombuffer(data, dtype=self._data.dtype).view(shape)
        for at, slot, tokens in self._runs(blocks):
            begin = at + skip * size
            self._data[..., slot : slot + tokens, :] = source[..., begin : begin + tokens, :]

    def _runs(self, blocks: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Neighbouring blocks at a time: (offset among the tokens of `blocks`, slot, tokens)."""
        size, first = self.block_size, 0
        for at in range(1, len(blocks) + 1):
            if at == len(blocks) or blocks[at] != blocks[at - 1] + 1:
                yield first * size, blocks[first] * size, (at - first) * size
                first = at

    def relative_error(self, blocks: Sequence[int], others: Sequence[int], tokens: int) -> float:
        """How far the KV of `tokens` positions in `blocks` is from that in `others`.

        The greatest over all layers, keys and values apart: |a - b| / |b|, Frobenius norms.
        """
        one, other = (self._gather(table)[..., :tokens, :].float() for table in (blocks, others))
        norms = other.flatten(2).norm(dim=2).clamp_min(1e-30)
        return float(((one - other).flatten(2).norm(dim=2) / norms).max())

    def _gather(self, blocks: Sequence[int]) -> Tensor:
        """A copy of whole blocks on the host, `[layers, 2, K, tokens, D]`."""
        shape = list(self._data.shape)
        shape[3] = len(blocks) * self.block_size
        copied = torch.empty(shape, dtype=self._data.dtype)
        for at, slot, tokens in self._runs(blocks):
            copied[..., at : at + tokens, :] = self._data[..., slot : slot + tokens, :]
        return copied
