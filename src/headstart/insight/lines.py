"""The lines of a file: plain or gzip, told by its first bytes; a broken file is one error."""

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

Moved = Callable[[int], None]
"""Hears how many bytes of a file were read since it was last told."""
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
REPORT_EVERY = 256
"""Lines after which the reader's place is told."""
CHUNK = 1 << 20
LONGEST_LINE = 256 << 20
"""Bytes. A request of ten million tokens is 50 MB."""


Failed = Callable[[str, str, int | None], ValueError]
"""Makes an error of a reason, a file's name, and a line where there is one."""


def nobody(_: int) -> None:
    """Nobody wants to know."""


def placed(reason: str, file: str, line: int | None = None) -> str:
    """A reason behind its place: `log.jsonl:3: empty`."""
    place = file if line is None else f"{file}:{line}"
    return f"{place}: {reason}" if place else reason


class Lines:
    """Numbered lines of `path`; blank ones are left out, and so is a byte order mark.

    Raises what `error` makes of what can't be read, and of a line that is longer than `longest`
    bytes, of which no more than those are held; it is told `name`, or the file's own. `end`: bytes
    behind which no line is read.
    """

    def __init__(
        self,
        path: Path,
        moved: Moved = nobody,
        *,
        error: Failed,
        longest: int = LONGEST_LINE,
        name: str = "",
        end: int | None = None,
    ) -> None:
        self._path = path
        self._name = name or path.name
        self._moved = moved
        self._error = error
        self._longest = longest
        self._end = end

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        number = told = read = 0
        try:
            with self._path.open("rb") as file:
                packed = file.peek(2)[:2] == GZIP
                lines: IO[bytes] = (
                    io.BufferedReader(gzip.GzipFile(fileobj=file), 1 << 16) if packed else file
                )
                while line := lines.readline(CHUNK):
                    number += 1
                    if len(line) == CHUNK:
                        line = self._rest(line, lines, number)
                    read += len(line)
                    if self._end is not None and read > self._end:
                        break
                    if number % REPORT_EVERY == 0:
                        at = file.raw.tell()
                        self._moved(at - told)
                        told = at
                    if number == 1:
                        line = line.removeprefix(BOM)
                    if line and not line.isspace():
                        yield number, line
                self._moved(file.raw.tell() - told)
        except (OSError, EOFError, zlib.error) as error:
            after = f" after line {number}" if number else ""
            raise self._error(f"cannot be read{after}: {error}", self._name, None) from error

    def _rest(self, begun: bytes, lines: IO[bytes], number: int) -> bytes:
        """A long line, of which `begun` was read."""
        line = bytearray(begun)
        while not line.endswith(b"\n") and (more := lines.readline(CHUNK)):
            line += more
            if len(line) > self._longest:
                reason = f"a line of more than {self._longest} bytes"
                raise self._error(reason, self._name, number)
        return bytes(line)


def end_of_lines(path: Path) -> int:
    """Bytes up to the end of the last line that has one. Raises OSError."""
    with path.open("rb") as file:
        end = file.seek(0, io.SEEK_END)
        while end:
            begin = max(0, end - CHUNK)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
    return 0


def from_stdin(directory: Path) -> Path:
    """What comes on stdin, as a file: it is read more than once."""
    path = directory / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path
