"""Requests of files, directories and standard input, one after the other."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import NO_SIGNS, Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.files.kind import Kind
from headstart.insight.asked.files.kinds import KINDS
from headstart.insight.asked.files.values import LeftOut, refused, values
from headstart.insight.asked.join import Answers
from headstart.insight.lines import from_stdin

Trouble = Callable[[str, Unreadable], None]
"""Hears which place can't be read, and why."""

STDIN = "-"
SUFFIXES = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")
"""Of the files that are read in a directory; a file that is named may be called anything."""
LOOKED_AT = 3
"""Objects by which the kind of a recording is told."""
GIVEN_UP = 16
"""Values that are no requests, before any that is one: then the file is none of ours."""


def read_requests(
    places: Sequence[str], told: Signs = NO_SIGNS, trouble: Trouble | None = None
) -> Iterator[Asked]:
    """Every request of files, of all files below directories in the order of their names, and of
    standard input (`-`). Only one request is held at a time; of a batch's results, which are put to
    their requests, only the usage.

    `trouble` hears what can't be read, once for each file, and the rest is read all the same, the
    later lines of that file too; without it, Unreadable.
    """
    with tempfile.TemporaryDirectory() as directory:
        found = list(files(places, Path(directory), trouble))
        answers = Answers()
        apart = {path for path, name in found if len(found) > 1 and _answers(path, name)}
        if len(apart) == len(found):
            apart.clear()
        for path, name in found:
            if path in apart:
                for answer in _heard(path, told, name, trouble):
                    answers.add(answer)
        for path, name in found:
            if path not in apart:
                for asked in _heard(path, told, name, trouble):
                    yield answers.join(asked)
        yield from answers.left()


def read_file(
    path: Path,
    told: Signs = NO_SIGNS,
    *,
    name: str = "",
    tap: Callable[[Origin, Any], None] | None = None,
    left_out: LeftOut = refused,
) -> Iterator[Asked]:
    """The requests of one file, which messages call `name`. Raises Unreadable.

    `tap` hears of each value of the file before its requests come, `left_out` of each that is no
    request; unless told, one of those is the end.
    """
    shown = name or str(path)
    kind, found = _opened(path, shown, left_out)
    for number, value in found:
        origin = Origin(shown, number)
        if tap is not None:
            tap(origin, value)
        try:
            yield from kind.read(iter([(origin, value)]), told)
        except Unreadable as error:
            left_out(error)


def _opened(path: Path, shown: str, left_out: LeftOut) -> tuple[Kind, Iterator[tuple[int, Any]]]:
    """A file's kind, and all its values."""
    found = values(path, shown, left_out)
    first = list(islice(found, LOOKED_AT))
    if not first:
        raise Unreadable("no requests", shown)
    objects = [value for _, value in first if isinstance(value, dict)]
    if len(objects) < len(first):
        raise Unreadable("a request is an object", shown, _strange(first))
    kind = next((kind for kind in KINDS if kind.claims(objects)), None)
    if kind is None:
        # The first that is no request gets the blame.
        kind = next((kind for kind in KINDS if kind.claims(objects[:1])), KINDS[-1])
    return kind, chain(first, found)


def _answers(path: Path, name: str) -> bool:
    """Whether a file holds answers alone. What can't be read is told when its turn comes."""
    try:
        kind, _ = _opened(path, name, lambda _: None)
    except Unreadable:
        return False
    return kind.answers


def _heard(path: Path, told: Signs, name: str, trouble: Trouble | None) -> Iterator[Asked]:
    if trouble is None:
        yield from read_file(path, told, name=name)
        return
    left_out = _LeftOut()
    try:
        for asked in read_file(path, told, name=name, left_out=left_out):
            left_out.some = True
            yield asked
    except Unreadable as error:
        left_out.hear(error)
    if left_out.first is not None:
        trouble(name, left_out.told(left_out.first))


@dataclass(slots=True)
class _LeftOut:
    """What of a file can't be read."""

    some: bool = False
    """Whether anything could be read."""
    first: Unreadable | None = None
    times: int = 0

    def __call__(self, error: Unreadable) -> None:
        if not self.some and self.times + 1 >= GIVEN_UP:
            raise error
        self.hear(error)

    def hear(self, error: Unreadable) -> None:
        """One more."""
        self.first = self.first or error
        self.times += 1

    def told(self, first: Unreadable) -> Unreadable:
        """All of them in one line."""
        more = self.times - 1
        if not more:
            return first
        tried = "" if self.some or self.times < GIVEN_UP else ", and the rest was not tried"
        reason = f"{first.reason}; {more:,} more could not be read{tried}"
        return Unreadable(reason, first.file, first.line)


def _strange(first: Sequence[tuple[int, Any]]) -> int:
    return next(number for number, value in first if not isinstance(value, dict))


def files(
    places: Sequence[str], directory: Path, trouble: Trouble | None
) -> Iterator[tuple[Path, str]]:
    """Each file, and what messages call it. Standard input becomes one in `directory`."""
    for place in places:
        if place == STDIN:
            yield from_stdin(directory), STDIN
        elif not Path(place).is_dir():
            yield Path(place), place
        else:
            found = sorted(
                path
                for path in Path(place).rglob("*")
                if path.name.endswith(SUFFIXES) and path.is_file()
            )
            yield from ((path, str(path)) for path in found)
            if not found:
                error = Unreadable(f"no {', '.join(SUFFIXES[:3])} in this directory", place)
                if trouble is None:
                    raise error
                trouble(place, error)
