"""Which requests belong together, and what sessions of their length can be expected to read."""

from collections import OrderedDict
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.compare.compare import first_difference
from headstart.ledger import Account

MOST_OPEN = 1 << 15
"""Sessions that may still go on; the one that was quiet longest is closed."""
MOST_KEPT = 512
"""Requests that a later one without a session id may continue."""


@dataclass(slots=True)
class Session:
    """One conversation, as far as it was heard."""

    turns: int = 0
    prompt: int = 0
    read: int = 0
    last: Asked | None = None
    """Without its body, which may be large."""
    last_prompt: int = 0


@dataclass(slots=True)
class Lengths:
    """All sessions of so many turns."""

    sessions: int = 0
    prompt: int = 0
    read: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What a request is to its session."""

    number: int
    """From 1."""
    before: Asked | None
    """The request before it, without its body."""
    before_prompt: int = 0


FIRST = Turn(1, None)


def expected(turns: int) -> float:
    """(T-1)/(T+1): of T turns of one size, each of which carries all before it."""
    return (turns - 1) / (turns + 1)


class Sessions:
    """Hears requests one after the other. A session is told by its id, or by what it continues."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._continued: OrderedDict[int, tuple[Asked, tuple[str, str]]] = OrderedDict()
        self._lengths: dict[int, Lengths] = {}
        self._next = 0
        self.known = 0
        """Requests that have a session."""

    def hear(self, asked: Asked, earlier: Asked | None, account: Account) -> Turn:
        """One more request, and the earlier one that it has most in common with."""
        key = self._key(asked, earlier)
        if key is None:
            return FIRST
        self.known += 1
        session = self._open.setdefault(key, Session())
        self._open.move_to_end(key)
        turn = Turn(session.turns + 1, session.last, session.last_prompt)
        session.turns += 1
        session.prompt += account.prompt
        session.read += account.read
        session.last, session.last_prompt = bare(asked), account.prompt
        if len(self._open) > MOST_OPEN:
            self._close(self._open.popitem(last=False)[1])
        return turn

    def lengths(self) -> dict[int, Lengths]:
        """By turns, ascending; closes all."""
        while self._open:
            self._close(self._open.popitem(last=False)[1])
        return dict(sorted(self._lengths.items()))

    def _key(self, asked: Asked, earlier: Asked | None) -> tuple[str, str] | None:
        if asked.session:
            return asked.tenant, f"id {asked.session}"
        if not asked.has_body:
            return None
        known = None if earlier is None else self._continued.get(id(earlier))
        if known is None or not goes_on(known[0], asked):
            self._next += 1
            key = asked.tenant, f"number {self._next}"
        else:
            key = known[1]
        self._continued[id(asked)] = asked, key
        if len(self._continued) > MOST_KEPT:
            self._continued.popitem(last=False)
        return key

    def _close(self, session: Session) -> None:
        lengths = self._lengths.setdefault(session.turns, Lengths())
        lengths.sessions += 1
        lengths.prompt += session.prompt
        lengths.read += session.read


def goes_on(before: Asked, after: Asked) -> bool:
    """Whether `after` is `before` with something behind it."""
    count = len(before.pieces)
    return count < len(after.pieces) and first_difference(before.pieces, after.pieces) == count


def bare(asked: Asked) -> Asked:
    """Without what makes it large."""
    return Asked(
        asked.format,
        asked.vendor,
        asked.model,
        (),
        {},
        time=asked.time,
        tenant=asked.tenant,
        session=asked.session,
        route=asked.route,
    )
