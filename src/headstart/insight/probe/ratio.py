"""How many times as long one kind of request takes as another, with an interval that holds."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
METHOD = "Hodges-Lehmann ratio, exact Mann-Whitney interval"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The estimate lies between `low` and `high`, which are 0 and infinity where too few spoke."""

    estimate: float
    low: float
    high: float
    n: int
    """Measurements of the kind that has fewer."""


def ratio(ones: Sequence[float], others: Sequence[float], confidence: float = CONFIDENCE) -> Ratio:
    """`ones` over `others`; at least one of each, all above 0.

    The median of all pairs' ratios, and the two of them that the exact distribution of Mann and
    Whitney's U leaves inside (Hollander & Wolfe, Nonparametric Statistical Methods, 4.3). It takes
    no shape of noise for granted. For 95 % it takes at least four of each; from seven on, one
    outlier moves neither end.
    """
    pairs = sorted(one / other for one in ones for other in others)
    outside = _outside(len(ones), len(others), (1 - confidence) / 2)
    low, high = (pairs[outside - 1], pairs[-outside]) if outside else (0.0, float("inf"))
    return Ratio(statistics.median(pairs), low, high, min(len(ones), len(others)))


def _outside(m: int, n: int, tail: float) -> int:
    """How many of the smallest pairs may be left out: as many values of U as fit in `tail`."""
    counts = _u_counts(m, n)
    total, sum_, outside = sum(counts), 0, 0
    for count in counts:
        sum_ += count
        if sum_ > tail * total:
            break
        outside += 1
    return outside


def _u_counts(m: int, n: int) -> list[int]:
    """Of all orders of m ones and n others, how many have U = 0, 1, …, m·n: a Gaussian binomial."""
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        # Times (1 - q^(n+i)), then through (1 - q^i); what is beyond m·n falls off.
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return counts
