"""What is wrong with a request's marks, by the contract that reads them."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headstart.contracts.plan import Plan, Write
from headstart.contracts.prompt import Prompt
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import Piece
from headstart.insight.causes import Cause
from headstart.insight.compare.compare import first_difference
from headstart.insight.lint.breaks import Heard
from headstart.insight.rehearsal import Rehearsed

BY_MARKS = ("anthropic", "openai_breakpoints")
"""Contracts that write at marks."""
WORTH = 1024
"""Tokens that are sent again and again; of fewer nobody expects to read any."""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """One thing wrong."""

    cause: Cause
    address: str
    """JSON pointer of the mark, or of the block that should have one; empty for the whole body."""
    tokens: int
    """That are not read for it."""
    said: str
    """What is so, in a few words."""


class Marks:
    """Hears a recording, request by request."""

    def __init__(self, most: int = 512) -> None:
        self._most = most
        self._kept: OrderedDict[int, tuple[Asked, Rehearsed]] = OrderedDict()

    def hear(self, asked: Asked, heard: Heard, rehearsed: Rehearsed) -> Iterator[Misplaced]:
        """What is wrong with this one."""
        earlier = None if heard.earlier is None else self._kept.get(id(heard.earlier))
        yield from _wrong(asked, rehearsed, heard, None if earlier is None else earlier[1])
        self._kept[id(asked)] = asked, rehearsed
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _wrong(
    asked: Asked, now: Rehearsed, heard: Heard, before: Rehearsed | None
) -> Iterator[Misplaced]:
    profile, prompt, plan = now.profile, now.prompt, now.plan
    marked = [piece for piece in asked.pieces if piece.mark is not None and piece.markable]
    if plan is None:
        yield _refused(now, len(marked))
        return
    if profile.marks and len(marked) > profile.marks:
        said = f"{len(marked)} breakpoints, and only the latest {profile.marks} are written"
        yield Misplaced(Cause.TOO_MANY_MARKERS, marked[0].pointer, 0, said)
    last = marked[-1].pointer if marked else ""
    common = _common(asked, heard, prompt)
    meant = bool(marked) or prompt.wishes.automatic is not None or bool(prompt.partition)
    if (meant or common >= WORTH) and _is_short(now, marked):
        end = _marked_end(prompt)
        said = f"{end} tokens of at least {profile.minimum}"
        yield Misplaced(Cause.BELOW_MINIMUM, last, end, said)
    elif profile.contract in BY_MARKS and heard.found is None and before is not None:
        assert heard.earlier is not None, "it was rehearsed"
        misplaced = _unread(asked, heard.earlier, now, before, common)
        if misplaced is not None:
            yield misplaced


def _refused(now: Rehearsed, marked: int) -> Misplaced:
    most, said = now.profile.marks, str(now.refusal)
    many = bool(most) and marked >= (most or 0) and "maximum" in said
    cause = Cause.TOO_MANY_MARKERS if many else Cause.MARKER_REFUSED
    return Misplaced(cause, "", now.prompt.tokens, said)


def _common(asked: Asked, heard: Heard, prompt: Prompt) -> int:
    """Tokens that it begins with as an earlier request did."""
    if heard.earlier is None:
        return 0
    pieces = first_difference(heard.earlier.pieces, asked.pieces)
    return prompt.ends[pieces - 1] if pieces else 0


def _is_short(now: Rehearsed, marked: Sequence[Piece]) -> bool:
    minimum, prompt = now.profile.minimum, now.prompt
    if now.profile.contract == "anthropic" and marked:
        return _marked_end(prompt) < minimum
    return prompt.tokens < minimum


def _marked_end(prompt: Prompt) -> int:
    """Tokens through the last mark; all of them where there is none."""
    marked = (i for i in range(len(prompt.blocks) - 1, -1, -1) if prompt.blocks[i].mark)
    last = next(marked, None)
    return prompt.tokens if last is None else prompt.ends[last]


def _unread(
    asked: Asked, earlier: Asked, now: Rehearsed, before: Rehearsed, common: int
) -> Misplaced | None:
    """Why not all is read that was sent before, where the texts themselves don't say."""
    if now.plan is None or before.plan is None or common < now.profile.minimum:
        return None
    read = 0 if now.plan.hit is None else now.plan.hit.end
    marked = [piece for piece in asked.pieces if piece.mark is not None and piece.markable]
    edge = asked.pieces[bisect_right(now.prompt.ends, common) - 1]
    fitting = max((end for end in _known(before.plan) if end <= common), default=0)
    changed = _relived(before.plan.writes, now.plan.writes) or _asked_for(earlier, asked, common)
    if changed is not None:
        said = f"written for {changed[0]} before, for {changed[1]} now"
        return Misplaced(Cause.LIFETIME_CHANGED, edge.pointer, changed[2], said)
    expired = _expired(earlier, asked, before.plan, fitting)
    if fitting > read and expired is not None:
        return Misplaced(Cause.EXPIRED, edge.pointer, fitting - read, expired)
    if fitting > read and (marked or now.profile.contract == "openai_breakpoints"):
        said = f"{fitting} tokens were written before, {read} are within reach of a marker"
        return Misplaced(Cause.LOOKBACK, edge.pointer, fitting - read, said)
    if read or fitting:
        return None
    if marked:
        said = f"{common} tokens stay the same, and the marker stands behind them"
        return Misplaced(Cause.MARKER_AFTER_VOLATILE, marked[-1].pointer, common, said)
    if now.prompt.wishes.automatic is not None:
        return None
    said = f"{common} tokens were sent before, and no marker stands at their end"
    return Misplaced(Cause.NO_MARKER, edge.pointer, common, said)


def _known(plan: Plan) -> list[int]:
    """Where the prefixes end that were written or read."""
    return [write.end for write in plan.writes] + ([] if plan.hit is None else [plan.hit.end])


def _relived(before: tuple[Write, ...], now: tuple[Write, ...]) -> tuple[str, str, int] | None:
    """The first prefix that is written with another lifetime, and its tokens."""
    lifetimes = {write.key: write.lifetime for write in before}
    for write in now:
        known = lifetimes.get(write.key)
        if known is not None and known != write.lifetime:
            return known, write.lifetime, write.end
    return None


def _asked_for(earlier: Asked, asked: Asked, common: int) -> tuple[str, str, int] | None:
    """The lifetimes of all that two requests write, if they differ."""
    one, other = (
        each.wishes.ttl or (each.wishes.automatic.ttl if each.wishes.automatic else None)
        for each in (earlier, asked)
    )
    return (one, other, common) if one and other and one != other else None


def _expired(earlier: Asked, asked: Asked, plan: Plan, end: int) -> str | None:
    """What is said of an entry that ends there and had ended before it was asked for."""
    if earlier.time is None or asked.time is None:
        return None
    gap = asked.time - earlier.time
    lives = [each.seconds for each in (*plan.writes, plan.hit) if each and each.end == end]
    if not lives or gap < max(lives):
        return None
    return f"it was asked for {gap:,.0f} s later, and lives {max(lives):,.0f} s"
