"""How much an endpoint keeps: distinct prefixes are written until one of them is gone.

Of the policy only this is taken for granted: it drops nothing while there is room. So what is
looked for is the first loss of any prefix, not of the oldest: after every growth by a tenth all
are read back. A read refreshes what it finds, all alike; what it misses it computes and so writes,
which pushes out others. Therefore the newest are read first: under LRU and FIFO those are what is
left, and the reads up to the first miss disturb nothing.

What the probe has sent just before lies there too, so it is counted with the rest. Were it not, the
room would seem smaller by that much wherever a policy gives it up later than one of ours.

What else lies there may be given up later than one of ours, by chance or by what a policy has
learned. So a loss counts only if all is read back again and again and something is missing each
time: what was missed has been written anew, and if there is room for all, it pushed out the other.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.script import Prompt, Reply, Script, Spent, ask
from headstart.insight.probe.signs import A_TENTH

GROWTH = 1.1
"""Between two times that all is read back, which reads 1 / (1 - 1 / GROWTH) times what is kept."""
TRIES = 3
"""Of reading all back, until a loss is believed."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Tokens that distinct prefixes may have together."""

    whole: int
    """So many were all there."""
    high: int | None = None
    """Of so many something was gone; None: the budget ended first."""
    left: int = 0
    """Of those, so many were still there; reading back may have pushed out others."""
    prefixes: int = 0
    """Written in all."""

    @property
    def low(self) -> int:
        """So many were there at once."""
        return max(self.whole, self.left)

    @property
    def estimate(self) -> float | None:
        """None where only one end is known.

        What is left of too much is what there is room for, unless reading it back has cost so much
        that it tells nothing new; then the middle.
        """
        if self.high is None:
            return None
        return self.left if self.left > self.whole else (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class _Kept:
    prompt: Prompt
    tokens: int


def capacity(
    unseen: Unseen, clock: Callable[[], str], sent: Sequence[Prompt], rest: int
) -> Script[Capacity]:
    """Writes and reads until something is gone or the budget is. Answers must have counts.

    `sent`: what the probe has sent just before; of that, what isn't kept (it may be too short)
    doesn't count. `rest`: as of `is_whole`.
    """
    known = deque(sent)
    kept: list[_Kept] = []
    written = whole = 0
    left: int | None = None
    try:
        while True:
            if known:
                prompt = known.popleft()
                tokens = yield from _known(prompt, rest)
                if not tokens:
                    continue
            else:
                prompt = unseen.layout().fill(clock)
                tokens = (yield from ask(prompt, "writing")).usage.input or 0
            kept.append(_Kept(prompt, tokens))
            written += tokens
            if written >= whole * GROWTH:
                for _ in range(TRIES):
                    found = yield from _read_back(kept, rest)
                    if found is None:
                        left, whole = None, written
                        break
                    left = max(left or 0, found)
                if left is not None:
                    return Capacity(whole, written, left, len(kept))
    except Spent:
        if left is not None:
            return Capacity(whole, written, left, len(kept))
        return Capacity(whole, prefixes=len(kept))


def _known(prompt: Prompt, rest: int) -> Script[int]:
    """Tokens of a prompt that was sent before; 0 if it isn't kept even when it was just sent."""
    for _ in range(2):
        reply = yield from ask(prompt, "reading back")
        tokens = reply.usage.input or 0
        if (reply.usage.cached or 0) >= A_TENTH * tokens and is_whole(reply, rest):
            return tokens
    return 0


def _read_back(kept: list[_Kept], rest: int) -> Script[int | None]:
    """Tokens that were still there; None if all were.

    Each was there before the next was read, and a read only pushes out, so they were there at once.
    """
    there, lost = 0, False
    for each in reversed(kept):
        reply = yield from ask(each.prompt, "reading back")
        cached = reply.usage.cached or 0
        if is_whole(reply, rest):
            there += each.tokens
        else:
            # A few tokens are the template's, which all have in common.
            there += cached if cached >= A_TENTH * each.tokens else 0
            lost = True
    return there if lost else None


def is_whole(reply: Reply, rest: int) -> bool:
    """Whether a prompt that was sent before is still there.

    `rest`: tokens that this endpoint doesn't read of a prompt that is surely there, because it
    counts in blocks or keeps less. A tenth of the prompt may lack besides.
    """
    prompt = reply.usage.input or 0
    return (reply.usage.cached or 0) >= prompt - rest - A_TENTH * prompt
