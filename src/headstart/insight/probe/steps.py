"""The self-test: the same prefix three times beside a control arm, then with a clock moved."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from headstart.insight.probe.prompts import Layout, Unseen
from headstart.insight.probe.script import Reply, Script, Spent, ask

CALLS = 3


@dataclass(slots=True)
class Taken:
    """Replies by arm, a row a sample; rows that the budget cut short are left out."""

    own_clock: bool
    """The prompt brings its own clock: `repeated` has it where it stands."""
    repeated: list[list[Reply]] = field(default_factory=list)
    unseen: list[Reply] = field(default_factory=list)
    clock_first: list[list[Reply]] = field(default_factory=list)
    """Empty with a clock of its own."""
    clock_last: list[list[Reply]] = field(default_factory=list)
    other_key: list[list[Reply]] = field(default_factory=list)
    """The first call of `repeated`, and the same prompt under another key behind the third."""
    complete: bool = False

    @property
    def enough(self) -> bool:
        """Whether there is anything to judge."""
        return bool(self.repeated and self.unseen)


def calls_of(samples: int, *, own_clock: bool, other_key: bool = False) -> int:
    """How many requests `three_steps` makes."""
    return samples * (CALLS * (2 if own_clock else 3) + 1 + other_key)


def three_steps(
    unseen: Unseen,
    samples: int,
    *,
    own_clock: bool,
    clock: Callable[[], str],
    seed: int,
    other_key: bool = False,
) -> Script[Taken]:
    """Samples one after the other, each through all arms, so that drift meets every arm alike.

    Each sample has unseen prefixes of its own. The control call comes before or after the three,
    as a coin falls: neither a warmer connection nor a cooler processor is on one side alone.
    """
    taken, coin = Taken(own_clock), random.Random(seed)
    try:
        for _ in range(samples):
            yield from _sample(taken, unseen, clock, coin.random() < 0.5, other_key)
    except Spent:
        return taken
    taken.complete = True
    return taken


def _sample(
    taken: Taken, unseen: Unseen, clock: Callable[[], str], control_first: bool, other_key: bool
) -> Script[None]:
    if control_first:
        taken.unseen.append((yield from _once(unseen.layout(), clock)))
    layout = unseen.layout()
    taken.repeated.append((yield from _thrice(layout, clock, "same prefix")))
    if other_key:
        again = yield from ask(layout.fill(clock), "same prefix, other key", other=True)
        taken.other_key.append([taken.repeated[-1][0], again])
    if not control_first:
        taken.unseen.append((yield from _once(unseen.layout(), clock)))
    if not taken.own_clock:
        layout = unseen.layout().clock_first()
        taken.clock_first.append((yield from _thrice(layout, clock, "clock first")))
    layout = unseen.layout().clock_last()
    taken.clock_last.append((yield from _thrice(layout, clock, "clock last")))


def _once(layout: Layout, clock: Callable[[], str]) -> Script[Reply]:
    return (yield from ask(layout.fill(clock), "unseen prefix"))


def _thrice(layout: Layout, clock: Callable[[], str], purpose: str) -> Script[list[Reply]]:
    replies = []
    for _ in range(CALLS):
        replies.append((yield from ask(layout.fill(clock), purpose)))
    return replies
