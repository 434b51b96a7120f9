"""Hears requests in their order and keeps what is needed to explain any one of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from headstart.contracts.prompt import Prompt
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.prompt import path_of
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.compare.compare import compare
from headstart.insight.lint.breaks import Breaks, Heard
from headstart.insight.lint.marks import Marks, Misplaced
from headstart.insight.rehearsal import Rehearsal, Rehearsed

PromptOf = Callable[[Asked], Prompt]


@dataclass(frozen=True, slots=True)
class Told:
    """One request, and what came before it."""

    asked: Asked
    earlier: Asked | None
    """The one it could have read most of."""
    found: Break | None
    """Where it leaves that one at a cost."""
    rehearsed: Rehearsed
    """What its vendor reads and writes of it by the rules, at the recording's times."""
    misplaced: Misplaced | None
    """What is wrong with its marks."""
    forever: int
    """Tokens its vendor would read if nothing ever expired."""
    since: float | None
    """Seconds from the earlier one, where both have times."""

    @property
    def address(self) -> str:
        """Of the mark or the field at fault: a JSON pointer, or nothing."""
        refusal = self.rehearsed.refusal
        if refusal is not None and refusal.path:
            return _refused(self.asked, refusal.path)
        return "" if self.misplaced is None else self.misplaced.address


def _refused(asked: Asked, path: str) -> str:
    """From a path as a vendor spells it to the piece it leads into, or to the body's own field."""
    for piece in asked.pieces:
        whole = path_of(piece, asked.format)
        if path == whole or path.startswith((f"{whole}.", f"{whole}[")):
            return piece.pointer
    return "/" + path.partition(".")[0]


class History:
    """The requests so far."""

    def __init__(self, prompt_of: PromptOf) -> None:
        self._breaks = Breaks()
        self._marks = Marks()
        self._rehearsal = Rehearsal(prompt_of)
        self._forever = Rehearsal(prompt_of)

    def hear(self, asked: Asked) -> Told:
        """The next request of a recording, compared with whichever it has most in common with."""
        return self._tell(asked, self._breaks.hear(asked))

    def pair(self, before: Asked, after: Asked) -> Told:
        """Two requests, and nothing else that either could have read."""
        self._tell(before, Heard(None, None))
        return self._tell(after, Heard(before, compare(before, after)))

    def _tell(self, asked: Asked, heard: Heard) -> Told:
        rehearsed = self._rehearsal.ask(asked)
        timeless = replace(asked, time=0.0)
        forever = self._forever.ask(timeless).account.read
        marks = list(self._marks.hear(asked, heard, rehearsed))
        # What ran out is told by the times, whatever was marked.
        misplaced = next((each for each in marks if each.cause is not Cause.EXPIRED), None)
        earlier = heard.earlier
        since = None
        if earlier is not None and earlier.time is not None and asked.time is not None:
            since = asked.time - earlier.time
        return Told(asked, earlier, heard.found, rehearsed, misplaced, forever, since)


def find(history: History, requests: Iterable[Asked], wanted: str | None) -> Told:
    """The request with this id, else the one on this line; without either the last of all.

    Raises Unreadable where there is none.
    """
    by_place: Told | None = None
    last: Told | None = None
    named = False
    for asked in requests:
        last = history.hear(asked)
        named = named or bool(asked.id)
        if wanted is None:
            continue
        if asked.id == wanted:
            return last
        if by_place is None and str(asked.origin.number) == wanted:
            if not named:
                return last  # No id here can be meant.
            by_place = last
    found = last if wanted is None else by_place
    if found is None:
        raise Unreadable("no requests" if wanted is None else f"no request '{wanted}'")
    return found
