"""How likely what is idle comes back, learned from what came back and when.

Ages are in units of a learned gap and fall into half octaves. Per class and bin two numbers are
kept: how many entered it, and how many came back in it; who was given up in between is counted as
long as it was seen (censoring). A class with little of its own leans on its parent's.
"""

from bisect import bisect_right

BINS = 40
"""Half octaves of age/scale from 2**-6 on; the first bin holds everything younger."""
EDGES = (0.0, *(2.0 ** ((at - 12) / 2) for at in range(BINS)))
"""Bin b is [EDGES[b], EDGES[b + 1])."""
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
        self.hazard: list[float] = []
        """P(return in the bin | idle up to it), as of the last `rebuild`."""
        self.worth: list[float] = []
        """Per bin: the best P(return) per time held, over all times one could hold on."""
        self.rebuild()

    def entered(self, at: int) -> None:
        """A unit has reached bin `at`."""
        self._entered[at] += 1
        if self._parent is not None:
            self._parent.entered(at)

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
            expected = sum(n * p for n, p in zip(self._entered, prior, strict=True))
            level = (sum(self._returned) + OWN_LEVEL) / (expected + OWN_LEVEL)
            prior = [min(CERTAIN, level * p) for p in prior]
        rows = zip(self._returned, self._entered, prior, strict=True)
        self.hazard = [(r + OWN_BINS * p) / (n + OWN_BINS) for r, n, p in rows]
        self.worth = _gittins(self.hazard)


def _gittins(hazard: list[float]) -> list[float]:
    """Per bin, the greatest P(return up to B) / E(time held up to B) over all later B.

    From the last bin to the first: a bin holds on into the stretch behind it as long as that one
    pays better than what it has itself.
    """
    worth = [0.0] * BINS
    behind: list[tuple[float, float, float]] = []
    for at in range(BINS - 1, -1, -1):
        width = EDGES[at + 1] - EDGES[at] if at + 1 < BINS else EDGES[at]
        chance, held, alive = hazard[at], width * (1 - hazard[at] / 2), 1 - hazard[at]
        while behind and behind[-1][0] * held > chance * behind[-1][1]:
            more, longer, left = behind.pop()
            chance, held, alive = chance + alive * more, held + alive * longer, alive * left
        behind.append((chance, held, alive))
        worth[at] = chance / held
    return worth
