"""The lines of a recording: plain or gzip, told by its first bytes; a broken file is one error."""

import gzip
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

Line = TypeVar("Line")
Moved = Callable[[int], None]
"""Hears how many bytes of a file were read since it was last told."""
GZIP = b"\x1f\x8b"
REPORT_EVERY = 256
"""Lines after which the reader's place is told."""


class TraceError(ValueError):
    """A recording that cannot be read; names the file and the line."""


def nobody(_: int) -> None:
    """Nobody wants to know."""


class Lines:
    """Numbered lines of `path`; blank ones are left out."""

    def __init__(self, path: Path, moved: Moved = nobody) -> None:
        self._path = path
        self._moved = moved

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        number = told = 0
        try:
            with self._path.open("rb") as file:
                packed = file.peek(2)[:2] == GZIP
                lines: Iterable[bytes] = gzip.GzipFile(fileobj=file) if packed else file
                for number, line in enumerate(lines, 1):
                    if number % REPORT_EVERY == 0:
                        at = file.raw.tell()
                        self._moved(at - told)
                        told = at
                    if not line.isspace():
                        yield number, line
                self._moved(file.raw.tell() - told)
        except (OSError, EOFError, zlib.error) as error:
            name = self._path.name
            raise TraceError(f"{name}: cannot be read after line {number}: {error}") from error


def from_stdin(directory: Path) -> Path:
    """What comes on stdin, as a file: it is read more than once."""
    path = directory / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def decoded(path: Path, number: int, line: bytes, form: type[Line]) -> Line:
    """A line of JSON as `form`. Raises TraceError."""
    try:
        return msgspec.json.decode(line, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"{path.name}:{number}: {error}") from error
