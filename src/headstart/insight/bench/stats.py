"""Medians and spread. A mean would let one burst of a shared machine speak for the rest."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Of `n` values: the median, the smallest and the largest."""

    median: float
    low: float
    high: float
    n: int

    def show(self, scale: float = 1.0, digits: int = 0) -> str:
        """`median (low-high)`, each times `scale`; the median alone where all values look alike."""
        median, low, high = (f"{v * scale:.{digits}f}" for v in (self.median, self.low, self.high))
        return median if low == high else f"{median} ({low}-{high})"


def summary(values: Iterable[float]) -> Summary:
    """Summarise at least one value."""
    every = sorted(values)
    return Summary(statistics.median(every), every[0], every[-1], len(every))


def percentile(values: Iterable[float], percent: float) -> float:
    """Linear interpolation between closest ranks, the ends included (numpy's default)."""
    every = sorted(values)
    rank = (len(every) - 1) * percent / 100
    below = int(rank)
    above = min(below + 1, len(every) - 1)
    return every[below] + (every[above] - every[below]) * (rank - below)
