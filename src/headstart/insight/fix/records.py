"""A recording's values, each with the requests in it, so that it can be written again."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.source import files, read_file


@dataclass(frozen=True, slots=True)
class Source:
    """A file that can be read more than once, and what messages call it."""

    path: Path
    name: str


@dataclass(slots=True)
class Record:
    """A value of a file."""

    origin: Origin
    value: Any
    asked: list[Asked]
    """None in a line of a log that asks nothing; several in a text completion."""

    def with_body(self, body: Mapping[str, Any]) -> Any:
        """The same value with another body of its only request."""
        old = self.asked[0]
        if self.value is old.body or not isinstance(self.value, dict):
            return body
        held = self.value.get("body")
        if isinstance(held, str):
            return {**self.value, "body": json.dumps(body, ensure_ascii=False)}
        if isinstance(held, dict):
            return {**self.value, "body": body}
        beside = {"time": old.time, "id": old.id, "tenant": old.tenant, "session": old.session}
        return {name: each for name, each in beside.items() if each} | {"body": body}


def sources(places: Sequence[str], directory: Path) -> Iterator[Source]:
    """Of what the user named; standard input goes into `directory`. Raises Unreadable."""
    for path, name in files(places, directory, None):
        yield Source(path, name)


def records(source: Source, told: Signs) -> Iterator[Record]:
    """Every value in its order. Raises Unreadable."""
    waiting: deque[Record] = deque()

    def tap(origin: Origin, value: Any) -> None:
        waiting.append(Record(origin, value, []))

    for asked in read_file(source.path, told, name=source.name, tap=tap):
        if not asked.has_body:
            continue
        while waiting and waiting[0].origin != asked.origin:
            yield waiting.popleft()
        if not waiting:
            reason = "this kind of recording can't be written again"
            raise Unreadable(reason, asked.origin.file, asked.origin.number)
        waiting[0].asked.append(asked)
    yield from waiting
