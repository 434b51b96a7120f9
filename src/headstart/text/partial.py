"""The one question every streaming matcher asks: how much of the tail may still become a match?"""

from collections.abc import Iterable


def partial_suffix(text: str, targets: Iterable[str]) -> int:
    """How many characters at the end of `text` are a proper prefix of some target, at most."""
    longest = 0
    for target in targets:
        for length in range(min(len(target) - 1, len(text)), longest, -1):
            if text.endswith(target[:length]):
                longest = length
                break
    return longest
