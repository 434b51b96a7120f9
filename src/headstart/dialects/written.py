"""Writes to the cache in the classes of a dialect, under whosever contract they were made."""

import math
from collections.abc import Mapping, Sequence

SECONDS = {"m": 60, "h": 3600}


def by_class(written: Mapping[str, int], classes: Sequence[str]) -> dict[str, int]:
    """Tokens by class; `written` is by lifetime, `classes` are from the shortest to the longest.

    What lives longer costs more, so a write is told in the first class that lasts as long as it
    does, and in the last one where none does: never in a cheaper one than it has to be.
    """
    told = dict.fromkeys(classes, 0)
    for lifetime, tokens in written.items():
        fitting = (each for each in classes if _seconds(each) >= _seconds(lifetime))
        told[next(fitting, classes[-1])] += tokens
    return told


def _seconds(lifetime: str) -> float:
    """Of `5m` or `12h`; what is named otherwise has no end of its own."""
    number, unit = lifetime[:-1], lifetime[-1:]
    return int(number) * SECONDS[unit] if number.isdecimal() and unit in SECONDS else math.inf
