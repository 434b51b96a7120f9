"""Breaks between the requests of a recording, gathered: one for each cause and place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.compare import SOME, compare
from headstart.insight.compare.recent import Recent

_INDEX = re.compile(r"/\d+")


@dataclass(slots=True)
class Gathered:
    """All breaks of one cause in one place."""

    first: Break
    before: Asked
    """With which the first was compared."""
    after: Asked
    times: int = 0
    lost_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """What a request is to those before it."""

    earlier: Asked | None
    """The one it could read most of."""
    found: Break | None


class Breaks:
    """Hears a recording, request by request."""

    def __init__(self) -> None:
        self._recent: dict[str, Recent] = {}
        self._gathered: dict[tuple[Cause, str, str], Gathered] = {}

    def hear(self, asked: Asked) -> Heard:
        """One more request. Tenants are walls: it is compared with those of its own."""
        recent = self._recent.setdefault(asked.tenant, Recent())
        heard = _compared(recent, asked)
        recent.add(asked)
        if heard.found is not None and heard.earlier is not None:
            self._gather(heard.found, heard.earlier, asked)
        return heard

    def __iter__(self) -> Iterator[Gathered]:
        yield from self._gathered.values()

    def _gather(self, found: Break, earlier: Asked, asked: Asked) -> None:
        place = "" if found.piece is None else _INDEX.sub("/*", found.piece.pointer)
        kind = "" if found.piece is None else found.piece.kind
        key = found.cause, kind, place
        gathered = self._gathered.get(key)
        if gathered is None:
            gathered = self._gathered[key] = Gathered(found, earlier, asked)
        gathered.times += 1
        gathered.lost_bytes += found.lost_bytes


def _compared(recent: Recent, asked: Asked) -> Heard:
    """With the one that has most in common with it, unless another lets it read as much."""
    best: Heard | None = None
    wanted = 0
    for earlier in recent.earlier(asked):
        found = compare(earlier.asked, asked)
        if found is None:
            if best is None or earlier.read + SOME > wanted:
                return Heard(earlier.asked, None)
        elif best is None:
            best, wanted = Heard(earlier.asked, found), earlier.common
    return best or Heard(None, None)
