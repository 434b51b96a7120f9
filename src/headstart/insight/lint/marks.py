"""What is wrong with a request's marks, by the contract that reads them."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.contracts.diagnosis import end_before
from headstart.contracts.plan import Write
from headstart.insight.asked.asked import Asked
from headstart.insight.causes import Cause
from headstart.insight.compare.compare import first_difference
from headstart.insight.lint.breaks import Heard
from headstart.insight.rehearsal import Rehearsed

BY_MARKS = ("anthropic", "openai_breakpoints")
"""Contracts that write at marks."""


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
        if rehearsed.profile.contract in BY_MARKS:
            earlier = None if heard.earlier is None else self._kept.get(id(heard.earlier))
            yield from self._wrong(asked, rehearsed, heard, None if earlier is None else earlier[1])
        self._kept[id(asked)] = asked, rehearsed
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def _wrong(
        self, asked: Asked, now: Rehearsed, heard: Heard, before: Rehearsed | None
    ) -> Iterator[Misplaced]:
        profile, prompt = now.profile, now.prompt
        places = [at for at, block in enumerate(prompt.blocks) if block.mark is not None]
        marked = [prompt.blocks[at] for at in places]
        if now.refusal is not None:
            many = profile.marks is not None and len(marked) >= profile.marks
            many = many and "maximum" in str(now.refusal)
            cause = Cause.TOO_MANY_MARKERS if many else Cause.MARKER_REFUSED
            yield Misplaced(cause, "", prompt.tokens, str(now.refusal))
            return
        if profile.marks is not None and len(marked) > profile.marks:
            said = f"{len(marked)} breakpoints, and only the latest {profile.marks} are written"
            yield Misplaced(Cause.TOO_MANY_MARKERS, marked[0].path, 0, said)
        assert now.plan is not None, "it wasn't refused"
        asks = bool(marked) or prompt.wishes.automatic is not None
        if asks and not now.plan.writes:
            end = prompt.ends[places[-1]] if places else prompt.tokens
            said = f"{end} tokens of at least {profile.minimum}"
            yield Misplaced(Cause.BELOW_MINIMUM, marked[-1].path if marked else "", end, said)
            return
        if before is None or before.plan is None or heard.found is not None:
            return
        assert heard.earlier is not None, "it was rehearsed"
        common = first_difference(heard.earlier.pieces, asked.pieces)
        end = end_before(prompt, common)
        read = 0 if now.plan.hit is None else now.plan.hit.end
        if end < profile.minimum:
            return
        written = _known(before)
        fitting = max((write for write in written if write <= end), default=0)
        block = prompt.blocks[common - 1]
        if not asks and profile.contract == "anthropic":
            said = f"{end} tokens were sent before, and nothing is marked"
            yield Misplaced(Cause.NO_MARKER, block.path, end, said)
        elif not now.plan.writes and not read and prompt.wishes.mode == "explicit":
            said = "explicit mode without a breakpoint: nothing is cached"
            yield Misplaced(Cause.NO_MARKER, block.path, end, said)
        elif changed := _relived(before.plan.writes, now.plan.writes):
            said = f"written for {changed[0]} before, for {changed[1]} now"
            yield Misplaced(Cause.LIFETIME_CHANGED, block.path, changed[2], said)
        elif fitting > read:
            said = f"{fitting} tokens were written before, {read} are within reach of a marker"
            yield Misplaced(Cause.LOOKBACK, block.path, fitting - read, said)
        elif not read and written and marked and profile.contract == "anthropic":
            said = f"{end} tokens stay the same, and the marker stands behind them"
            yield Misplaced(Cause.MARKER_AFTER_VOLATILE, marked[-1].path, end, said)


def _known(before: Rehearsed) -> list[int]:
    """Where the prefixes end that were written or read."""
    plan = before.plan
    assert plan is not None
    return [write.end for write in plan.writes] + ([] if plan.hit is None else [plan.hit.end])


def _relived(before: tuple[Write, ...], now: tuple[Write, ...]) -> tuple[str, str, int] | None:
    """The first prefix that is written with another lifetime, and its tokens."""
    lifetimes = {write.key: write.lifetime for write in before}
    for write in now:
        known = lifetimes.get(write.key)
        if known is not None and known != write.lifetime:
            return known, write.lifetime, write.end
    return None
