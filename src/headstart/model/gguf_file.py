"""The header of a GGUF file: metadata and where each tensor lies. Tensor data isn't touched.

Format: the GGUF specification of ggml, versions 2 and 3, little-endian. The `gguf` package has a
reader too, but it takes seconds over the vocabulary of a small model (a NumPy view per string).
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.model.errors import ModelError

_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""GGUF value type → struct format."""
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """Where a tensor lies."""

    shape: tuple[int, ...]
    """Rows first, as torch has it (GGUF stores the row length first)."""
    type: int
    """ggml's number of the storage type."""
    offset: int
    """From the start of the file, in bytes."""


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What a GGUF file says of itself."""

    path: Path
    metadata: Mapping[str, Any]
    """Numbers, booleans, strings, and lists of them."""
    tensors: Mapping[str, GgufTensor]


def read_gguf(path: Path) -> GgufFile:
    """Parse the header. Raises ModelError for what is no GGUF file or ends within its header."""
    if path.stat().st_size == 0:
        raise ModelError(f"{path} is empty.")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _parse(path, _Cursor(data))
        except (struct.error, UnicodeDecodeError, MemoryError):
            raise ModelError(f"{path} is cut short or damaged in its header.") from None


class _Cursor:
    """Reads values one after another."""

    def __init__(self, data: mmap.mmap) -> None:
        self.at = 0
        self._data = data

    def scalar(self, code: str) -> Any:
        (value,) = self.array(code, 1)
        return value

    def array(self, code: str, count: int) -> tuple[Any, ...]:
        layout = f"<{count}{code}"
        values = struct.unpack_from(layout, self._data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def string(self) -> str:
        length = self.scalar("Q")
        text = self._data[self.at : self.at + length]
        if len(text) < length:
            raise struct.error("a string ends beyond the file")
        self.at += length
        return text.decode()

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            kind, count = self.scalar("I"), self.scalar("Q")
            if kind in _SCALARS:
                return list(self.array(_SCALARS[kind], count))
            return [self.value(kind) for _ in range(count)]
        if kind not in _SCALARS:
            raise struct.error(f"unknown value type {kind}")
        return self.scalar(_SCALARS[kind])


def _parse(path: Path, cursor: _Cursor) -> GgufFile:
    if cursor.array("c", 4) != (b"G", b"G", b"U", b"F"):
        raise ModelError(f"{path} is no GGUF file.")
    if (version := cursor.scalar("I")) not in (2, 3):
        raise ModelError(f"{path} is of GGUF version {version}; supported are 2 and 3.")
    tensor_count, field_count = cursor.array("Q", 2)
    metadata: dict[str, Any] = {}
    for _ in range(field_count):
        key = cursor.string()
        metadata[key] = cursor.value(cursor.scalar("I"))
    found: dict[str, GgufTensor] = {}
    for _ in range(tensor_count):
        name = cursor.string()
        shape = cursor.array("Q", cursor.scalar("I"))
        kind, offset = cursor.scalar("I"), cursor.scalar("Q")
        found[name] = GgufTensor(shape[::-1], kind, offset)
    alignment = metadata.get("general.alignment", 32)
    start = -(-cursor.at // alignment) * alignment
    tensors = {
        name: GgufTensor(tensor.shape, tensor.type, start + tensor.offset)
        for name, tensor in found.items()
    }
    return GgufFile(path, metadata, tensors)
