"""The JSON values of a file: one document, a list's elements, or one a line. Never more at once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from headstart.insight.asked.errors import Unreadable
from headstart.insight.lines import Lines, placed

LONGEST = 64 << 20
"""Bytes of a line, and of a document over several lines."""
FOREIGN = (
    (b"SQLite format 3\0", "a database: `headstart report` reads ledgers"),
    (b"PK\x03\x04", "a ZIP: unpack it first"),
    (b"%PDF", "a PDF"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"),
)


LeftOut = Callable[[Unreadable], None]
"""Hears of a value that can't be read, and that the others are read without."""


def refused(error: Unreadable) -> None:
    """Nothing is left out: what can't be read ends it all."""
    raise error


def values(path: Path, name: str, left_out: LeftOut = refused) -> Iterator[tuple[int, Any]]:
    """Each value with its line, or with its place in a list.

    Raises Unreadable for the file; a later line that is broken is left to `left_out`.
    """
    lines = iter(Lines(path, error=Unreadable, longest=LONGEST, name=name))
    number, line = next(lines, (0, b""))
    if not line:
        raise Unreadable("empty", name)
    _check(line, name, number)
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        if "truncated" not in str(error):
            raise broken(error, name, number) from None
        value = _document(line, lines, name, number)
    except (RecursionError, UnicodeDecodeError) as error:
        raise broken(error, name, number) from None
    if isinstance(value, list):
        yield from enumerate(value, 1)
    else:
        yield number, value
    for number, line in lines:
        try:
            value = decoded(line, name, number)
        except Unreadable as error:
            left_out(error)
            continue
        yield number, value


def decoded(said: bytes | str, file: str, line: int, what: str = "") -> Any:
    """A value. `what` it is, for the message. Raises Unreadable."""
    try:
        return msgspec.json.decode(said)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise broken(error, file, line, what) from None


def broken(error: Exception, file: str, line: int | None, what: str = "") -> Unreadable:
    """What the decoder says, in one line."""
    said = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return Unreadable(placed(f"not JSON: {said}", what), file, line)


def _check(line: bytes, name: str, number: int) -> None:
    """The first bytes of what isn't JSON tell soon."""
    for magic, what in FOREIGN:
        if line.startswith(magic):
            raise Unreadable(what, name, number)
    if line.lstrip()[:1] not in (b"{", b"["):
        raise Unreadable("neither a JSON object nor a list", name, number)


def _document(line: bytes, lines: Iterator[tuple[int, bytes]], name: str, number: int) -> Any:
    """A value over several lines: all that is left of the file."""
    whole = bytearray(line)
    starts = [(0, number)]
    for number, line in lines:
        starts.append((len(whole), number))
        whole += line
        if len(whole) > LONGEST:
            raise Unreadable(f"one document of more than {LONGEST} bytes: write one a line", name)
    try:
        return msgspec.json.decode(whole)
    except msgspec.DecodeError as error:
        said = str(error)
        _, _, at = said.removesuffix(")").rpartition("byte ")
        offset = int(at) if at.isdigit() else len(whole)
        number = max(number for start, number in starts if start <= offset)
        raise broken(error, name, number) from None
    except (RecursionError, UnicodeDecodeError) as error:
        raise broken(error, name, None) from None
