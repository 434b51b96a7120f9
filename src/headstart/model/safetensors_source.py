"""Tensors of a Hugging Face directory: one safetensors file, or shards named by an index."""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from headstart.model.errors import ModelError

_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"


def weight_files(directory: Path) -> Sequence[Path]:
    """The directory's safetensors files, by name. Raises ModelError when one is missing."""
    index = directory / _INDEX
    if (directory / _SINGLE).is_file():
        return [directory / _SINGLE]
    if not index.is_file():
        raise ModelError(
            f"{directory} has neither {_SINGLE} nor {_INDEX}. Checkpoints of other formats must be "
            "saved as safetensors first (safe_serialization=True)."
        )
    try:
        names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ModelError(f"{index} is no index of a sharded checkpoint.") from None
    files = [directory / name for name in names]
    if missing := [file.name for file in files if not file.is_file()]:
        raise ModelError(f"{directory} lacks {', '.join(missing)}, which {_INDEX} names.")
    return files


class SafetensorsSource:
    """The tensors of open safetensors files, each read when it is asked for."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files

    def names(self) -> Set[str]:
        """Every tensor of every file."""
        return self._files.keys()

    def read(self, name: str) -> Tensor:
        """The tensor, possibly a view of the mapped file."""
        tensor: Tensor = self._files[name].get_tensor(name)
        if not tensor.is_floating_point():
            raise ModelError(f"tensor {name} is {tensor.dtype}: quantised weights, not supported.")
        return tensor


@contextmanager
def open_safetensors(weights: Sequence[Path]) -> Iterator[SafetensorsSource]:
    """Map the files for as long as the context lasts."""
    with ExitStack() as stack:
        files: dict[str, Any] = {}
        for file in weights:
            try:
                opened = stack.enter_context(safe_open(file, framework="pt"))
            except SafetensorError as error:
                raise ModelError(
                    f"{file} is cut short or no safetensors file ({error}). Fetch it again."
                ) from None
            files |= dict.fromkeys(opened.keys(), opened)
        yield SafetensorsSource(files)
