"""Tensors of a GGUF file as they are stored, dequantised by the `gguf` package."""

import mmap
from math import prod

import gguf
import numpy as np
import torch
from torch import Tensor

from headstart.model.errors import ModelError
from headstart.model.gguf_file import GgufFile


class GgufTensors:
    """Reads tensors of a file that stays mapped as long as this object lives."""

    def __init__(self, file: GgufFile) -> None:
        self._file = file
        with file.path.open("rb") as opened:
            self._data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)

    def read(self, name: str) -> Tensor:
        """A copy in fp32. Raises ModelError when the file ends within the tensor."""
        tensor, path = self._file.tensors[name], self._file.path
        try:
            kind = gguf.GGMLQuantizationType(tensor.type)
            block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        except (ValueError, KeyError):
            raise ModelError(f"{path}: tensor {name} is of unknown type {tensor.type}.") from None
        row_bytes = tensor.shape[-1] // block * block_bytes
        shape = (*tensor.shape[:-1], row_bytes)
        if tensor.offset + prod(shape) > len(self._data):
            raise ModelError(f"{path} is cut short: it ends within tensor {name}. Fetch it again.")
        stored = np.frombuffer(self._data, np.uint8, prod(shape), tensor.offset)
        try:
            values = gguf.dequantize(stored.reshape(shape), kind)
        except NotImplementedError:
            raise ModelError(f"{path}: tensor {name} is {kind.name}, not supported.") from None
        # Only what was stored as fp32 is still a view of the (read-only) file.
        return torch.from_numpy(np.require(values, requirements="W"))
