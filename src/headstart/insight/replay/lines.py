"""What recordings are read with: their lines, and one error for all that is broken."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from headstart.insight import lines
from headstart.insight.lines import Moved, end_of_lines, from_stdin, nobody, placed

__all__ = [
    "Lines",
    "Moved",
    "TraceError",
    "decoded",
    "end_of_lines",
    "from_stdin",
    "nobody",
    "rows",
]

Line = TypeVar("Line")


class TraceError(ValueError):
    """A recording that cannot be read; names the file and the line."""


class Lines(lines.Lines):
    """Numbered lines of a recording, up to `end` bytes of it. Raises TraceError."""

    def __init__(self, path: Path, moved: Moved = nobody, end: int | None = None) -> None:
        super().__init__(path, moved, error=_broken, end=end)


def _broken(reason: str, file: str, line: int | None) -> TraceError:
    return TraceError(placed(reason, file, line))


def rows(path: Path, form: type[Line], moved: Moved = nobody) -> Iterator[tuple[Path, int, Line]]:
    """Each line as `form`, with its place. Raises TraceError."""
    for number, line in Lines(path, moved):
        yield path, number, decoded(path, number, line, form)


def decoded(path: Path, number: int, line: bytes, form: type[Line]) -> Line:
    """A line of JSON as `form`. Raises TraceError."""
    try:
        return msgspec.json.decode(line, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"{path.name}:{number}: {error}") from error
