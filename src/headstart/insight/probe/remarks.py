"""The closed list of remarks beside a verdict: on a clock that is moved, and on another key."""

from collections.abc import Mapping
from dataclasses import dataclass

from headstart.insight.probe.signs import Signs


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding beside the verdict."""

    name: str
    says: str
    alarms: bool = False
    """It makes the status a finding's where the verdict is fine."""


CLOCK_REMARKS: Mapping[tuple[bool | None, bool | None], Remark] = {
    (False, True): Remark(
        "clock_breaks",
        "A clock in the first segment defeats the cache, behind the question it does no harm. Each"
        " of those calls differs from the others, so no cache of whole answers explains them.",
    ),
    (True, True): Remark(
        "clock_harmless",
        "There is reuse wherever the clock stands: more than prefixes is reused here, or the clock"
        " is dropped on the way.",
    ),
    (False, False): Remark(
        "no_reuse_with_clock",
        "With a clock nothing is reused, wherever it stands.",
    ),
    (True, False): Remark(
        "clock_upside_down",
        "There is reuse with the clock in front and none with it behind: no prefix cache does"
        " that.",
    ),
}
CLOCK_UNDECIDED = Remark("clock_undecided", "What the clock does can't be told from these times.")


def judge_clock(first: Signs, last: Signs) -> Remark:
    """What moving a clock from the first segment to the last does."""
    return CLOCK_REMARKS.get((first.reuses, last.reuses), CLOCK_UNDECIDED)


WALL_LEAKS = Remark(
    "wall_leaks",
    "Another key reads what this one wrote: whoever holds it can find out what was asked here.",
    alarms=True,
)
WALL_LEAKS_BY_TIME = Remark(
    "wall_leaks_by_time",
    "Nothing is counted under another key, but its first token comes sooner than an unseen"
    " prefix's: what was asked here can be found out by the clock. Chance alone does this in one or"
    " two of a hundred runs: run it again.",
    alarms=True,
)
WALL_HOLDS = Remark(
    "wall_holds",
    "Another key reads nothing of what this one wrote, neither by counters nor by the clock.",
)
WALL_BY_COUNTERS = Remark(
    "wall_by_counters",
    "Another key reads nothing by the counters; the times are too noisy to say whether it is felt.",
)
WALL_UNDECIDED = Remark(
    "wall_undecided", "Whether another key reads it can't be told: the times are too noisy."
)


def judge_wall(other: Signs) -> Remark:
    """Whether another tenant's key shows what this one's prefix has left behind."""
    if other.counters in ("reuse", "sometimes"):
        return WALL_LEAKS
    if other.timing == "faster":
        return WALL_LEAKS_BY_TIME
    if other.timing == "same":
        return WALL_HOLDS
    return WALL_UNDECIDED if other.counters in ("silent", "false") else WALL_BY_COUNTERS
