"""How long an endpoint keeps a prefix that nobody uses: read back once, after growing gaps.

Each gap has a prefix of its own, because reading one refreshes it where lifetimes slide; and all
gaps of a round run at the same time. Between the longest gap survived and the shortest not, further
rounds look closer while there is time. At last one prefix is read before its time is over, and
again when it would be over had that read not counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from headstart.insight.probe.capacity import is_whole
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.script import Prompt, Script, Spent, Wait, ask

FIRST_GAP = 5.0
"""Seconds."""
CLOSE = 1.2
"""Times: nearer than that the two ends needn't come."""
INNER = 3
"""Gaps of a round that looks closer."""
EARLY = 0.75
"""Of a lifetime, when the prefix of the last question is read."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Seconds without use."""

    low: float
    """Survived."""
    high: float | None = None
    """Not survived; None: nothing was gone by then."""
    sliding: bool | None = None
    """Whether reading begins a new life; None: not found out."""


def schedule(most: float) -> list[float]:
    """Gaps that double, up to `most` seconds."""
    gaps = []
    gap = FIRST_GAP
    while gap < most:
        gaps.append(gap)
        gap *= 2
    return [*gaps, most]


def lifetime(unseen: Unseen, clock: Callable[[], str], most: float, rest: int) -> Script[Lifetime]:
    """Takes `most` seconds or little more, and answers with counts. `rest`: as of `is_whole`."""
    found, left = Lifetime(0.0), most
    gaps: Sequence[float] = schedule(most)
    try:
        while gaps and gaps[-1] <= left:
            waited, found = yield from _round(unseen, clock, gaps, found, rest)
            left -= waited
            gaps = _between(found)
        if found.high is not None and 2 * EARLY * found.low <= left:
            found = replace(found, sliding=(yield from _slides(unseen, clock, found, rest)))
    except Spent:
        pass
    return found


def _round(
    unseen: Unseen, clock: Callable[[], str], gaps: Sequence[float], found: Lifetime, rest: int
) -> Script[tuple[float, Lifetime]]:
    """How long it took, and what is known then."""
    written: list[tuple[Prompt, float, float]] = []
    for gap in gaps:
        prompt = unseen.layout().fill(clock)
        reply = yield from ask(prompt, "writing")
        written.append((prompt, reply.sent, gap))
    begun = written[0][1]
    waited = 0.0
    for prompt, sent, gap in written:
        yield Wait(sent + gap)
        reply = yield from ask(prompt, f"reading after {gap:.0f} s")
        waited, true_gap = reply.sent - begun, reply.sent - sent
        if not is_whole(reply, rest):
            return waited, replace(found, high=true_gap)
        found = replace(found, low=max(found.low, true_gap))
    return waited, found


def _between(found: Lifetime) -> list[float]:
    """Gaps to look closer at, in equal ratios; none if the ends are close or one is missing."""
    if found.high is None or found.low <= 0 or found.high / found.low <= CLOSE:
        return []
    step = (found.high / found.low) ** (1 / (INNER + 1))
    return [found.low * step**i for i in range(1, INNER + 1)]


def _slides(
    unseen: Unseen, clock: Callable[[], str], found: Lifetime, rest: int
) -> Script[bool | None]:
    """None where the two ends are too far apart for a moment that tells."""
    assert found.high is not None
    early, late = EARLY * found.low, 2 * EARLY * found.low
    if late <= found.high:
        return None
    prompt = unseen.layout().fill(clock)
    sent = (yield from ask(prompt, "writing")).sent
    yield Wait(sent + early)
    if not is_whole((yield from ask(prompt, "reading early")), rest):
        return None
    yield Wait(sent + late)
    return is_whole((yield from ask(prompt, "reading late")), rest)
