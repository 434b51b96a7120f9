"""KV in eight bits at rest, where the operator allows it: half the bytes of bf16, not all bits.

Every block of every head has one scale per layer, for keys and for values: its greatest absolute
value becomes the greatest number of eight bits. Stored are the scales (f32), then a byte per value.
Packing what was unpacked gives the same bytes again, so errors don't add up from tier to tier.
"""

import math
from collections.abc import Sequence

import torch

from headstart.stores.codec import FP8, INT8, Buffer
from headstart.stores.errors import Corrupt

_SMALLEST = torch.finfo(torch.float32).tiny


class EightBit:
    """A Codec for payloads as `KVPool.read_blocks` gives them.

    `shape`: `[layers, 2, K, tokens, D]`, of `dtype`. `block_size` tokens share a scale.
    """

    lossy = True

    def __init__(
        self,
        codec_id: int,
        kind: torch.dtype,
        greatest: float,
        *,
        shape: Sequence[int],
        dtype: torch.dtype,
        block_size: int,
    ) -> None:
        self.id = codec_id
        self._kind = kind
        self._greatest = greatest
        self._dtype = dtype
        layers, two, heads, tokens, width = shape
        self._shape = (layers, two, heads, tokens // block_size, block_size * width)
        self._values = math.prod(shape)
        self._scale_bytes = 4 * (self._values // (block_size * width))

    def pack(self, payload: Buffer) -> Buffer:
        """Scales, then values. Raises ValueError for a payload of another length."""
        if len(payload) != self._values * self._dtype.itemsize:
            raise ValueError("a payload of another shape than the codec's")
        values = torch.frombuffer(payload, dtype=self._dtype).view(self._shape).float()
        most = values.abs().amax(-1, keepdim=True)
        scales = (most / self._greatest).clamp_min(_SMALLEST)
        values /= scales
        if self._kind is torch.int8:
            values.round_()
        packed = torch.empty(self._scale_bytes + self._values, dtype=torch.uint8)
        packed[: self._scale_bytes] = scales.flatten().view(torch.uint8)
        packed[self._scale_bytes :] = values.to(self._kind).flatten().view(torch.uint8)
        return packed.numpy().data

    def unpack(self, stored: Buffer, into: memoryview) -> None:
        """See Codec."""
        if len(stored) != self._scale_bytes + self._values:
            raise Corrupt("a payload in eight bits has another length than its KV")
        if len(into) != self._values * self._dtype.itemsize:
            raise Corrupt("a payload in eight bits is of another shape than the codec's")
        packed = torch.frombuffer(stored, dtype=torch.uint8)
        scales = packed[: self._scale_bytes].view(torch.float32).view(*self._shape[:-1], 1)
        values = packed[self._scale_bytes :].view(self._kind).view(self._shape).float()
        target = torch.frombuffer(into, dtype=self._dtype).view(self._shape)
        target.copy_(values.mul_(scales))


def eight_bit(
    name: str, *, shape: Sequence[int], dtype: torch.dtype, block_size: int
) -> EightBit | None:
    """The lossy codec of that name; None for a name of another kind."""
    match name:
        case "int8":
            kind, codec_id, greatest = torch.int8, INT8, 127.0
        case "fp8":
            kind, codec_id = torch.float8_e4m3fn, FP8
            greatest = torch.finfo(kind).max
        case _:
            return None
    return EightBit(codec_id, kind, greatest, shape=shape, dtype=dtype, block_size=block_size)
