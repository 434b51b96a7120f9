"""How likely what is idle comes back, learned from what came back and when.

Ages are in units of a learned gap and fall into half octaves. Per class and bin two numbers are
kept: how many entered it, and how many came back in it; who was given up in between is counted as
long as it was seen (censoring). A class with little of its own leans on its parent's.
"""

from bisect import bisect_right
from itertools import pairwise
from operator import mul

BINS = 40
"""Half octaves of age/scale from 2**-6 on; the first bin holds everything younger."""
EDGES = (0.0, *(2.0 ** ((at - 12) / 2) for at in range(BINS)))
"""Bin b is [EDGES[b], EDGES[b + 1])."""
WIDTHS = (*(end - begin for begin, end in pairwise(EDGES[:BINS])), EDGES[BINS - 1])
"""Of the bins; the last has no end and counts as wide as its age."""
PRIOR = 0.1
"""Equal in every half octave, which makes worth fall as 1/age: untaught, the order is LRU's."""
OWN_BINS = 8.0
"""Units that have to enter a bin before a class trusts its own hazard there over its parent's."""
OWN_LEVEL = 2.0
"""Returns before a class trusts its own overall level."""
CERTAIN = 0.95


def bin_of(age: float) -> int:
    """The bin of an age, in units of the scale."""
    return bisect_right(EDGES, age, 1, BINS) - 1


class Returns:
    """One class: who entered each bin of age, who returned in it, and what waiting is worth."""

    def __init__(self, parent: "Returns | None") -> None:
        self._parent = parent
        self._returned = [0.0] * BINS
        self._entered = [0.0] * BINS
        above = () if parent is None else parent._counts
        self._counts: tuple[list[float], ...] = (self._entered, *above)
        """Who entered, of this class and of all that it is a part of."""
        self.hazard: list[float] = []
        """P(return in the bin | idle up to it), as of the last `rebuild`."""
        self._worth: list[float] | None = None
        self.rebuild()

    @property
    def worth(self) -> list[float]:
        """Per bin: the best P(return) per time held, over all times one could hold on."""
        if self._worth is None:
            self._worth = _gittins(self.hazard)
        return self._worth

    def entered(self, at: int) -> None:
        """A unit has reached bin `at`."""
        for count in self._counts:
            count[at] += 1

    def returned(self, at: int, share: float) -> None:
        """A unit came back in bin `at`, or `share` of it."""
        self._returned[at] += share
        if self._parent is not None:
            self._parent.returned(at, share)

    def rebuild(self) -> None:
        """Learn from the counts so far; the parent must have done so before."""
        prior = [PRIOR] * BINS
        if self._parent is not None:
            prior = self._parent.hazard
            expected = sum(map(mul, self._entered, prior))
            level = (sum(self._returned) + OWN_LEVEL) / (expected + OWN_LEVEL)
            prior = [p if (p := level * each) < CERTAIN else CERTAIN for each in prior]
        rows = zip(self._returned, self._entered, prior, strict=True)
        self.hazard = [(r + OWN_BINS * p) / (n + OWN_BINS) for r, n, p in rows]
        self._worth = None  # Worked out when asked: of many classes nothing is cached.


def _gittins(hazard: list[float]) -> list[float]:
    """Per bin, the greatest P(return up to B) / E(time held up to B) over all later B.

    From the last bin to the first: a bin holds on into the stretch behind it as long as that one
    pays better than what it has itself.
    """
    worth: list[float] = []
    behind: list[tuple[float, float, float]] = []
    for own, width in zip(reversed(hazard), reversed(WIDTHS), strict=True):
        chance, held, alive = own, width * (1 - own / 2), 1 - own
        while behind:
            more, longer, left = behind[-1]
            if more * held <= chance * longer:
                break
            behind.pop()
            chance, held, alive = chance + alive * more, held + alive * longer, alive * left
        behind.append((chance, held, alive))
        worth.append(chance / held)
    worth.reverse()
    return worth
