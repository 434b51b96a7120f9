"""Incremental encoding: the ids of a text, at the cost of what is new in it.

A text that begins like a remembered one takes over its ids up to a seam (`text/seams.py`) in what
the two share; only what follows the seam is encoded. Seams are proved to be exact, and checked on
top: the tail must begin with the token the seam is made of, or fall into step with the known ids
over a margin. Where it doesn't, or there is no seam, the text is encoded as a whole.

So the ids are always those of a full encoding, with one deliberate exception: up to the end of an
answer that was learned (`text/splice.py`) they are the ids that the model read and wrote itself.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from headstart.text.remembered import Cut, Match, Remembered
from headstart.text.seams import SOFT, Encoded, SeamRules, Seams, token_at
from headstart.text.shelf import STRIDE
from headstart.text.text_memory import TextMemory

_MARGIN = 8
"""Ids before a soft seam that have to agree with what is known."""
_MOST_STOPS = 4


@dataclass(frozen=True, slots=True)
class _Resumption:
    """Where encoding may go on: `kept` ids and `seams` seams of a remembered text stay."""

    match: Match
    start: int
    kept: int
    seams: int
    step: int | None = None
    """Where the tail has to be in step with the known ids; None: it begins with a hard seam."""


class IncrementalEncoder:
    """Encodes texts that extend each other. Safe for threads; no lock is held while encoding."""

    def __init__(
        self, encode: Callable[[str], Encoded], rules: SeamRules, *, max_bytes: int
    ) -> None:
        """`encode` is the full encoding. `max_bytes` bounds what is remembered, over all scopes."""
        self._encode = encode
        self._rules = rules
        self._memory = TextMemory(max_bytes)

    @property
    def nbytes(self) -> int:
        """Memory that remembered texts take, in bytes."""
        return self._memory.nbytes

    def encode(self, text: str, scope: str) -> "array[int]":
        """Ids of `text`, typecode I, the caller's own. Only texts of the same scope are used."""
        match = self._memory.longest(scope, text, range(len(text) // STRIDE * STRIDE, 0, -STRIDE))
        at = self._best_resumption(scope, text, match)
        if at is not None and at.start == len(text):
            return self._known(scope, at)
        entry = None if at is None else self._resume(text, at)
        if at is None or entry is None:
            entry, base = self._start_over(text), None
        else:
            base = _outgrown(at)
        if self._rules.repeatable:
            self._memory.put(scope, entry, base)
        return entry.ids[:]

    def seams(self, text: str, scope: str) -> Seams:
        """Those known of `text`; none if it was not encoded for this scope, or is forgotten."""
        match = self._memory.longest(scope, text, [len(text)])
        return Seams() if match is None else match.entry.seams.first(_within(match))

    def learn(
        self, scope: str, prompt: Sequence[int], answer: Sequence[int], text: str, ends: list[Cut]
    ) -> bool:
        """Take over an answer's ids. False where `prompt` wasn't encoded here, or is forgotten.

        `text` is what `answer` decodes to. `ends` are the prefixes of it that a client may send
        back, the longest last; a text that continues one of them with a hard seam gets these ids.
        """
        found = self._memory.prompt(scope, array("I", prompt))
        if found is None:
            return False
        base, stop = found
        entry = Remembered(
            base.text[: stop.characters] + text,
            base.ids[: stop.tokens] + array("I", answer),
            base.seams.first(base.seams.within(stop.characters)),
            tuple(s for s in base.stops if s.characters <= stop.characters),
            tuple(Cut(stop.characters + e.characters, stop.tokens + e.tokens) for e in ends),
        )
        outgrown = stop.characters == len(base.text) and not base.answers
        self._memory.put(scope, entry, base if outgrown else None)
        return True

    def _known(self, scope: str, at: _Resumption) -> "array[int]":
        """Nothing is new; note that the text was asked for, so that it may get an answer."""
        entry, stop = at.match.entry, Cut(at.start, at.kept)
        others = [other for other in entry.stops if other != stop]
        stops = (*others[1 - _MOST_STOPS :], stop)
        self._memory.put(scope, replace(entry, stops=stops), entry)
        return entry.ids[: at.kept]

    def _best_resumption(self, scope: str, text: str, match: Match | None) -> _Resumption | None:
        """The latest place to go on from: by what `text` shares, or behind a whole answer."""
        shared = 0 if match is None else match.shared
        places = self._rules.hard_places(text, max(shared - self._rules.longest, 0))
        whole = self._memory.longest(scope, text, [len(text), *reversed(places)])
        found = [self._resumption(text, m) for m in (match, whole) if m is not None]
        return max((r for r in found if r is not None), key=lambda r: r.start, default=None)

    def _resumption(self, text: str, match: Match) -> _Resumption | None:
        entry, shared, seams = match.entry, match.shared, match.entry.seams
        if shared == len(text) == len(entry.text):
            return _Resumption(match, len(text), len(entry.ids), len(seams))
        for stop in entry.stops:
            if stop.characters == len(text) == shared:
                return _Resumption(match, len(text), stop.tokens, len(seams))
        for answer in reversed(entry.answers):
            end = answer.characters
            if end <= shared and (end == len(text) or self._rules.hard_id(text, end) is not None):
                return _Resumption(match, end, answer.tokens, len(seams))
        count = seams.within(shared)
        hard = next(
            (i for i in range(count - 1, max(count - 3, -1), -1) if seams[i].mark != SOFT), None
        )
        if hard is not None:
            return _Resumption(match, seams[hard].start, seams[hard].token, hard)
        if count < 2:
            return None
        last = seams[count - 1]
        return _Resumption(match, seams[count - 2].start, last.token, count, last.start)

    def _resume(self, text: str, at: _Resumption) -> Remembered | None:
        """Encode from there on; None where the tail doesn't fit."""
        base = at.match.entry
        tail = self._encode(text[at.start :])
        fresh, offsets, skipped = tail.ids, tail.offsets, 0
        if at.step is None:
            if fresh[:1] != [self._rules.hard_id(text, at.start)]:
                return None
        else:
            skipped = token_at(offsets, at.step - at.start)
            margin = min(_MARGIN, skipped)
            if fresh[skipped - margin : skipped] != base.ids[at.kept - margin : at.kept].tolist():
                return None
        ids = base.ids[: at.kept]
        ids.extend(array("I", fresh[skipped:]))
        seams = base.seams.first(at.seams)
        for seam in self._rules.find(text, at.start, fresh, offsets):
            if at.step is None or seam.start > at.step:
                seams.append(replace(seam, token=at.kept - skipped + seam.token))
        stops = [
            stop
            for stop in base.stops
            if stop.characters <= at.match.shared
            and ids[at.kept : stop.tokens] == base.ids[at.kept : stop.tokens]
        ]
        return Remembered(text, ids, seams, (*stops[1 - _MOST_STOPS :], _end(text, ids)))

    def _start_over(self, text: str) -> Remembered:
        whole = self._encode(text)
        ids, seams = array("I", whole.ids), Seams()
        for seam in self._rules.find(text, 0, ids, whole.offsets):
            seams.append(seam)
        return Remembered(text, ids, seams, (_end(text, ids),))


def _within(match: Match) -> int:
    return match.entry.seams.within(match.shared)


def _end(text: str, ids: "array[int]") -> Cut:
    return Cut(len(text), len(ids))


def _outgrown(at: _Resumption) -> Remembered | None:
    """The text that makes room for the new one: its beginning, with no answer left to be used."""
    base = at.match.entry
    used = all(answer.characters <= at.start for answer in base.answers)
    return base if used and at.match.shared == len(base.text) else None
