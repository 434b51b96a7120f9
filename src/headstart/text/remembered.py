"""A text that was encoded, and how much of it another text shares."""

from array import array
from dataclasses import dataclass
from sys import getsizeof

from headstart.text.seams import Seams


@dataclass(frozen=True, slots=True)
class Cut:
    """A prefix of a text and of its ids."""

    characters: int
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """A text and its ids. Shared between threads and never changed."""

    text: str
    ids: "array[int]"
    """Typecode I. Those of a full encoding, except up to the end of the last of `answers`, and of
    answers in what this text extends: there they are what the model read and wrote."""
    seams: Seams
    stops: tuple[Cut, ...] = ()
    """Prefixes that were asked for as a whole, the latest last: prompts that may get an answer."""
    answers: tuple[Cut, ...] = ()
    """Where an answer of the model may be said to end, the longest last."""

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return getsizeof(self.text) + 4 * len(self.ids) + self.seams.nbytes + 1024


@dataclass(frozen=True, slots=True)
class Match:
    """A remembered text, and how many characters another one has in common with it."""

    entry: Remembered
    shared: int


def shared_length(one: str, other: str) -> int:
    """Length of the common prefix, in characters. Compares at the speed of memory."""
    if one.startswith(other):
        return len(other)
    limit = min(len(one), len(other))
    step, equal = 256, 0
    while equal < limit and other.startswith(one[equal : equal + step], equal):
        equal, step = equal + step, 2 * step
    end = min(equal + step, limit)
    while equal < end:
        middle = (equal + end + 1) // 2
        if other.startswith(one[equal:middle], equal):
            equal = middle
        else:
            end = middle - 1
    return min(equal, limit)
