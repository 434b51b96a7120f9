"""What one layout of a prompt shows of reuse: by the endpoint's counters, and by the clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headstart.insight.probe.ratio import Ratio, ratio
from headstart.insight.probe.script import Reply, Usage

A_TENTH = 0.1
"""Of a prompt or of a time: less is neither reuse nor a gain."""
FEW = 64
"""Tokens; the smallest unit that a vendor caches. Fewer may be a template's first words, or what
two times of day have in common."""

Counters = Literal["reuse", "sometimes", "none", "silent", "false"]
"""`false`: they can't be."""
Timing = Literal["faster", "same", "unclear"]


@dataclass(frozen=True, slots=True)
class Signs:
    """The third call of each sample against calls with an unseen prefix of equal length."""

    counters: Counters
    timing: Timing
    hits: int
    """Samples whose third call was counted as reuse."""
    samples: int
    input: int | None
    """Prompt tokens of all third calls; None where it wasn't told for all of them."""
    cached: int | None
    """Of them, those read from the cache; None where it wasn't told for all of them."""
    against_unseen: Ratio
    """Times to first token."""
    against_first: Ratio
    """The same against the first call, as people compare; it may only have warmed things up."""

    @property
    def rate(self) -> float | None:
        """Cached over input tokens, by token."""
        return None if self.cached is None or not self.input else self.cached / self.input

    @property
    def reuses(self) -> bool | None:
        """Whether there is reuse: by the counters if there are any, else by the clock."""
        match self.counters:
            case "reuse" | "sometimes":
                return True
            case "none":
                return False
            case "silent" | "false":
                return {"faster": True, "same": False, "unclear": None}[self.timing]


def signs(samples: Sequence[Sequence[Reply]], unseen: Sequence[Reply]) -> Signs:
    """`samples`: the calls of each one, in order; `unseen`: the control arm. None is empty."""
    firsts, thirds = [s[0] for s in samples], [s[-1] for s in samples]
    usages = [reply.usage for reply in thirds]
    told = [usage.cached for usage in usages if usage.cached is not None]
    background = max((reply.usage.cached or 0 for reply in unseen), default=0)
    inputs = [usage.input for usage in usages if usage.input is not None]
    others = [reply.usage for reply in unseen]
    credible = all(map(possible, usages + others)) and not all(map(_read_whole, others))
    hits = sum(_is_hit(usage, background) for usage in usages)
    against_unseen = _times(thirds, unseen)
    return Signs(
        counters=_counters(hits, len(told), len(thirds)) if credible else "false",
        timing=_timing(against_unseen),
        hits=hits,
        samples=len(thirds),
        input=sum(inputs) if len(inputs) == len(thirds) else None,
        cached=sum(told) if len(told) == len(thirds) else None,
        against_unseen=against_unseen,
        against_first=_times(thirds, firsts),
    )


def possible(usage: Usage) -> bool:
    """No fewer than no tokens are cached, and no more than the prompt has."""
    if usage.cached is None:
        return True
    return usage.cached >= 0 and (usage.input is None or usage.cached <= usage.input)


def _read_whole(usage: Usage) -> bool:
    """What nobody has seen can't be read."""
    return bool(usage.input and usage.cached) and usage.input == usage.cached


def _is_hit(usage: Usage, background: int) -> bool:
    """A tenth of the prompt, and not just a few tokens, beyond what an unseen prompt reads."""
    if usage.cached is None or not usage.input:
        return False
    return usage.cached - background >= max(FEW, A_TENTH * usage.input)


def _counters(hits: int, told: int, samples: int) -> Counters:
    if told < samples:
        return "silent"
    if hits == samples:
        return "reuse"
    return "sometimes" if hits else "none"


def _timing(found: Ratio) -> Timing:
    if found.high < 1 - A_TENTH:
        return "faster"
    return "same" if found.low > 1 - A_TENTH else "unclear"


def _times(ones: Sequence[Reply], others: Sequence[Reply]) -> Ratio:
    return ratio([reply.ttft for reply in ones], [reply.ttft for reply in others])
