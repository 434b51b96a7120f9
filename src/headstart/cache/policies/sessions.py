"""Who goes on from where: sessions by the client's name, or by where their last request ended."""

import math
from collections import OrderedDict
from collections.abc import Hashable, Iterator

from headstart.cache.keys import BlockKey
from headstart.cache.node import Node
from headstart.cache.policies.hazard import Returns

MOST_SESSIONS = 65_536
CELL = 10.0
"""Gaps before the mean of a kind of answer counts half."""
SESSION = 3.0
"""Gaps before a session's own habit counts half."""
FORGET = 0.1
"""Weight of the newest gap in a session's habit, at least."""


class Unit:
    """Something that may come back as a whole: a session's path, a shared node, a dead branch."""

    __slots__ = ("at", "kind", "leaf", "scale", "since", "waiting")

    def __init__(self, kind: Returns, scale: float, since: float) -> None:
        self.kind = kind
        self.scale = scale
        self.since = since
        self.at = 0
        """Its bin of age."""
        self.waiting = True
        self.leaf: Node | None = None
        """The leaf that it prices now."""


class Session:
    """What is known of one; it outlives what is cached of it, so its return is noticed anyway."""

    __slots__ = (
        "cell",
        "depth",
        "end",
        "ends",
        "expected",
        "gaps",
        "habit",
        "last",
        "request",
        "size",
        "turns",
        "unit",
    )

    def __init__(self) -> None:
        self.unit: Unit | None = None
        self.end: Node | None = None
        """Where its last request ended, or the deepest node of that path that is left."""
        self.depth = 0
        """Blocks of that path."""
        self.ends: tuple[BlockKey, ...] = ()
        """The same by the keys of its last blocks."""
        self.last = 0.0
        self.request = -1
        self.turns = 0
        self.size = 0
        """Prompt and output tokens of the last request."""
        self.cell: tuple[Hashable, ...] = ()
        self.expected = 0.0
        """Mean log gap after answers of the kind it got last."""
        self.habit = 0.0
        """Its log gaps against what was expected."""
        self.gaps = 0


class Mean:
    """A running mean."""

    __slots__ = ("count", "value")

    def __init__(self) -> None:
        self.count = 0
        self.value = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self.count += 1
        self.value += (value - self.value) / self.count


class Gaps:
    """Log seconds between requests of a session, by the kind of answer in between."""

    def __init__(self) -> None:
        self.all = Mean()
        self._cells: dict[tuple[Hashable, ...], Mean] = {}

    def learn(self, session: Session, gap: float) -> None:
        """A session came back after `gap` log seconds."""
        self.all.add(gap)
        for cell in (session.cell[:1], session.cell):
            self._cells.setdefault(cell, Mean()).add(gap)
        session.gaps += 1
        step = max(1 / (session.gaps + SESSION), FORGET)
        session.habit += (gap - session.expected - session.habit) * step

    def expect(self, session: Session, stop: str | None, output: int) -> float:
        """Log seconds until `session` is back after an answer that ended so and was so long."""
        session.cell = (stop, int(math.log2(1 + output)))
        session.expected = self.all.value
        for cell in (session.cell[:1], session.cell):
            if (mean := self._cells.get(cell)) is not None:
                known = mean.count * mean.value + CELL * session.expected
                session.expected = known / (mean.count + CELL)
        return session.expected + session.habit


class Sessions:
    """The last sessions, found by name or by the end of their last request."""

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Session] = OrderedDict()
        self._ends: dict[BlockKey, Hashable] = {}
        self._unnamed = 0

    def get(self, name: Hashable) -> Session | None:
        """The session of that name."""
        return self._known.get(name)

    def find(self, name: Hashable, path: Iterator[BlockKey]) -> tuple[Hashable, bool]:
        """Whose request this is, and whether it goes on from where that one ended.

        `path`: keys of its new blocks and the last reused one, from its end backwards.
        """
        found = next((self._ends[key] for key in path if key in self._ends), None)
        if name is not None:
            return name, found == name
        if found is not None:
            return found, True
        self._unnamed += 1
        return self._unnamed, False

    def begin(self, name: Hashable) -> Session:
        """The session, a new one if need be, as the most recent of all."""
        session = self._known.pop(name, None) or Session()
        self._known[name] = session
        while len(self._known) > self._most:
            self._forget(next(iter(self._known)))
        return session

    def ended(self, name: Hashable, session: Session, ends: tuple[BlockKey, ...]) -> None:
        """Its last request ended in the blocks of these keys."""
        self._forget_ends(session)
        session.ends = ends
        self._ends.update(dict.fromkeys(ends, name))

    def _forget(self, name: Hashable) -> None:
        session = self._known.pop(name)
        self._forget_ends(session)
        if session.unit is not None:
            session.unit.waiting = False

    def _forget_ends(self, session: Session) -> None:
        for key in session.ends:
            if self._known.get(self._ends.get(key)) in (session, None):
                self._ends.pop(key, None)
