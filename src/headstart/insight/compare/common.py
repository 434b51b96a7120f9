"""What two sequences have in common at either end."""

from collections.abc import Sequence
from typing import Any


def common_prefix(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The length of the longest common beginning; of strings in C, by halves."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: Sequence[Any], other: Sequence[Any], keep: int = 0) -> int:
    """The length of the longest common end that leaves the first `keep` of both alone."""
    low, high = 0, min(len(one), len(other)) - keep
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
