"""Hears a recording, request by request, and says at its end what is wrong."""

from dataclasses import dataclass
from math import inf

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.count import Counter, Counts
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.compare.volatile import dates_a_text
from headstart.insight.findings.finding import Evidence, Finding, Severity, Step
from headstart.insight.findings.gather import in_order
from headstart.insight.findings.place import Place
from headstart.insight.findings.text import counted
from headstart.insight.lint.breaks import Breaks, Gathered, Heard
from headstart.insight.lint.looks import FORMS, Key, Look, Looks
from headstart.insight.lint.marks import Marks, Misplaced
from headstart.insight.lint.rules import severity
from headstart.insight.lint.unread import Unread
from headstart.insight.rehearsal import Rehearsal
from headstart.insight.shown import Show, plain

WORTH_NAMING = 0.1
"""Of all prompt tokens, lost for want of a marker in the right place."""

A_DAY = 86_400.0
"""Seconds: today's date doesn't come again after as many."""

MOST_LOOKS = 1024
"""Values that are remembered; where so many differ, two requests have confirmed it long since."""


@dataclass(slots=True)
class _Seen:
    """A look, and in how many requests the same value stood there."""

    look: Look
    origin: Origin
    times: int = 0
    first: float = inf
    last: float = -inf
    """Unix seconds, of the requests whose time is known."""

    def hear(self, time: float | None) -> None:
        """It came, or came again."""
        self.times += 1
        if time is not None:
            self.first, self.last = min(self.first, time), max(self.last, time)


@dataclass(slots=True)
class _Marked:
    """A misplaced mark, and how often."""

    first: Misplaced
    origin: Origin
    times: int = 1
    tokens: int = 0


class Linter:
    """One recording, or one request. Memory is bounded by what differs in the last requests."""

    def __init__(self, count: Counter, *, contract: str | None = None, show: Show = plain) -> None:
        """`contract`: the vendor whose rules apply to all, whoever they were sent to."""
        self._counter = count
        self._counts = counts = Counts(count)
        self._show = show
        self._rehearsal = Rehearsal(lambda asked: to_prompt(asked, counts), contract=contract)
        self._breaks = Breaks()
        self._marks = Marks()
        self._unread = Unread()
        self._look = Looks()
        self._looks: dict[Key, _Seen] = {}
        self._marked: dict[Cause, _Marked] = {}
        self.requests = 0
        self._tokens_heard = 0

    def hear(self, asked: Asked) -> None:
        """The next request."""
        self.requests += 1
        heard = self._breaks.hear(asked)
        rehearsed = self._rehearsal.ask(asked)
        self._tokens_heard += rehearsed.prompt.tokens
        for misplaced in self._marks.hear(asked, heard, rehearsed):
            self._add(misplaced, asked.origin)
        self._unread.hear(asked, heard, rehearsed)
        harmless = self._harmless(heard, asked)
        for key in harmless:
            self._looks.pop(key, None)
        for look in self._look(asked):
            if look.key not in self._looks:
                if look.key in harmless or len(self._looks) >= MOST_LOOKS:
                    continue
                self._looks[look.key] = _Seen(look, asked.origin)
            self._looks[look.key].hear(asked.time)

    def findings(self) -> list[Finding]:
        """All that is known by now."""
        found = [*map(self._of_break, self._breaks)]
        found += (
            self._of_mark(marked) for marked in self._marked.values() if self._counts_much(marked)
        )
        found += map(self._of_unread, self._unread)
        named = {each.code for each in found}
        places: dict[tuple[Cause, str], list[_Seen]] = {}
        for seen in self._looks.values():
            if self._may_be(seen) and ABOUT[seen.look.cause].code not in named:
                places.setdefault((seen.look.cause, seen.look.piece.pointer), []).append(seen)
        found += (self._of_looks(*alike) for alike in places.values())
        return in_order(found)

    @property
    def broken(self) -> list[Gathered]:
        """The breaks behind the findings."""
        return [*self._breaks]

    @property
    def causes(self) -> list[Cause]:
        """Of the findings, in the order in which they are listed in `causes`."""
        found = {each.code for each in self.findings()}
        return [cause for cause, about in ABOUT.items() if about.code in found]

    def _harmless(self, heard: Heard, asked: Asked) -> set[Key]:
        """Values in which two requests differ and lose nothing: they stand far enough back."""
        if heard.earlier is None or heard.found is not None:
            return set()
        one, other = (
            {look.key for look in self._look(each) if look.cause not in FORMS}
            for each in (heard.earlier, asked)
        )
        return one ^ other

    def _add(self, misplaced: Misplaced, origin: Origin) -> None:
        marked = self._marked.setdefault(misplaced.cause, _Marked(misplaced, origin, 0))
        marked.times += 1
        marked.tokens += misplaced.tokens

    def _counts_much(self, marked: _Marked) -> bool:
        """The first turn of a session may well miss; what is lost often has a cause to look for."""
        often = marked.first.cause in (Cause.NO_MARKER, Cause.LOOKBACK, Cause.EXPIRED)
        return not often or marked.tokens >= WORTH_NAMING * self._tokens_heard

    def _may_be(self, seen: _Seen) -> bool:
        """A value that came again is none of the request; today's date stays for a day."""
        look = seen.look
        if seen.times == 1 or look.cause in (Cause.INVISIBLE, Cause.LINE_ENDS):
            return True
        of_today = look.cause is Cause.DATE and not dates_a_text(look.piece.text, look.begin)
        return of_today and seen.last - seen.first < A_DAY

    def _of_break(self, each: Gathered) -> Finding:
        found, show = each.first, self._show
        tokens = sum(self._counts.tokens(piece) for piece in found.lost)
        if found.piece is not None and found.lost_within:
            tokens += self._counter.tokens(found.piece.text[-found.lost_within :])
        pointer = None if found.piece is None else found.piece.pointer
        often = f" in {each.times} requests" if each.times > 1 else ""
        lost = f"; {self._tokens(tokens)} behind it are the same and are not read" if tokens else ""
        return _finding(
            found.cause,
            f"{ABOUT[found.cause].title}: {show(found.before)} became {show(found.after)}"
            f"{often}{lost}.",
            _place(each.after.origin, pointer),
            Evidence.CONFIRMED,
            (
                Step(_place(each.before.origin, pointer), f"before: {show(found.before)}"),
                Step(_place(each.after.origin, pointer), f"then: {show(found.after)}"),
            ),
        )

    def _of_mark(self, marked: _Marked) -> Finding:
        first = marked.first
        often = f", in {marked.times} requests" if marked.times > 1 else ""
        exact = self._counter.measured or first.cause in (
            Cause.TOO_MANY_MARKERS,
            Cause.MARKER_REFUSED,
            Cause.NO_MARKER,
            Cause.LIFETIME_CHANGED,
        )
        return _finding(
            first.cause,
            f"{ABOUT[first.cause].title}: {first.said}{often}.",
            _place(marked.origin, first.address or None),
            Evidence.CONFIRMED if exact else Evidence.ESTIMATE,
        )

    def _of_unread(self, misplaced: tuple[Misplaced, Origin]) -> Finding:
        first, origin = misplaced
        return _finding(
            first.cause,
            f"{ABOUT[first.cause].title}: {first.said}.",
            _place(origin, first.address or None),
            Evidence.CONFIRMED,
        )

    def _of_looks(self, first: _Seen, *others: _Seen) -> Finding:
        """Values in one place of all requests."""
        look = first.look
        also = f", and {counted(len(others), 'others')} there" if others else ""
        return _finding(
            look.cause,
            f"{ABOUT[look.cause].title}: {self._show(look.value)}{also}.",
            _place(first.origin, look.piece.pointer),
            Evidence.SUSPECTED,
        )

    def _tokens(self, tokens: int) -> str:
        return f"{tokens:,} tokens" if self._counter.measured else f"about {tokens:,} tokens"


def _finding(
    cause: Cause, message: str, where: Place, evidence: Evidence, steps: tuple[Step, ...] = ()
) -> Finding:
    about = ABOUT[cause]
    weight = severity(cause)
    if evidence is Evidence.SUSPECTED and weight is Severity.ERROR:
        weight = Severity.WARNING
    return Finding(about.code, weight, message, about.why, where, evidence, about.way_out, steps)


def _place(origin: Origin, pointer: str | None) -> Place:
    return Place(origin.file, origin.number, pointer=pointer)
