"""Models whose hit rate stays near a half: the sign of every other request missing."""

from collections.abc import Iterator
from dataclasses import dataclass

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.report.sums import Sums
from headstart.insight.report.tally import Tally, in_order

LOW, HIGH = 0.35, 0.65
FEWEST = 20
"""Requests below which a rate near a half is chance."""
MATTERS = 0.1
"""Of the prompt tokens, what a cause has to lose to be named."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """One model, and why."""

    model: str
    sums: Sums
    cause: Cause | None
    why: str


def stuck(tally: Tally) -> Iterator[Stuck]:
    """In the order of the models' names."""
    levers = tally.levers.ranked()
    for model, sums in in_order(tally.models):
        rate = sums.hit_rate
        if rate is None or sums.requests < FEWEST or not LOW <= rate <= HIGH:
            continue
        lost: dict[Cause, int] = {}
        for lever in levers:
            if lever.model == model and lever.cause is not None:
                lost[lever.cause] = lost.get(lever.cause, 0) + lever.tokens
        worst = max(lost, key=lambda cause: (lost[cause], cause), default=None)
        if worst is not None and lost[worst] >= MATTERS * sums.prompt:
            said = f"{ABOUT[worst].title.lower()} ({lost[worst]:,} tokens)"
            yield Stuck(model, sums, worst, said)
        elif sums.ceiling is not None and sums.ceiling - rate < MATTERS:
            said = f"no cache would read more than {sums.ceiling:.1%}: sessions are short"
            yield Stuck(model, sums, Cause.SHORT_SESSION, said)
        else:
            yield Stuck(model, sums, None, "the recording doesn't tell why")
