"""Requests of files, directories and standard input, one after the other."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import NO_SIGNS, Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kinds import KINDS
from headstart.insight.asked.files.values import values
from headstart.insight.lines import from_stdin

STDIN = "-"
SUFFIXES = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")
"""Of the files that are read in a directory; a file that is named may be called anything."""
LOOKED_AT = 3
"""Objects by which the kind of a recording is told."""


def read_requests(places: Sequence[str], told: Signs = NO_SIGNS) -> Iterator[Asked]:
    """Every request of files, of all files below directories in the order of their names, and of
    standard input (`-`). Only one request is held at a time. Raises Unreadable.
    """
    for place in places:
        if place == STDIN:
            with tempfile.TemporaryDirectory() as directory:
                yield from read_file(from_stdin(Path(directory)), told, name=STDIN)
        else:
            for path in _files(Path(place)):
                yield from read_file(path, told)


def read_file(path: Path, told: Signs = NO_SIGNS, *, name: str = "") -> Iterator[Asked]:
    """The requests of one file, which messages call `name`. Raises Unreadable."""
    shown = name or str(path)
    found = values(path, shown)
    first = list(islice(found, LOOKED_AT))
    if not first:
        raise Unreadable(f"{shown}: no requests")
    objects = [value for _, value in first if isinstance(value, dict)]
    if len(objects) < len(first):
        raise Unreadable(f"{shown}:{_strange(first)}: a request is an object")
    kind = next((kind for kind in KINDS if kind.claims(objects)), None)
    if kind is None:
        # The first that is no request gets the blame.
        kind = next((kind for kind in KINDS if kind.claims(objects[:1])), KINDS[-1])
    numbered = ((Origin(shown, number), value) for number, value in chain(first, found))
    yield from kind.read(numbered, told)


def _strange(first: Sequence[tuple[int, Any]]) -> int:
    return next(number for number, value in first if not isinstance(value, dict))


def _files(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    files = [path for path in place.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file()]
    if not files:
        raise Unreadable(f"{place}: no {', '.join(SUFFIXES[:3])} in this directory")
    yield from sorted(files)
