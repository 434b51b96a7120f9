"""What no policy can beat on a stream, and LRU beside it, for any capacity in tokens."""

from collections.abc import Iterable

from headstart.insight.replay.optimum import Optimum
from headstart.insight.replay.report import Curve
from headstart.insight.replay.request import Request
from headstart.insight.replay.stack import lru_hit_rates

STEPS = 40
"""Points of a curve, from a thousandth of the footprint to all of it."""


class Bound:
    """Of requests whose ids name prefixes."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._reuse = Optimum(requests)
        self._known: dict[int, float] = {}
        self.ceiling = self._reuse.ceiling()
        """The token hit rate (0..1) of a cache without a limit."""
        self.footprint_tokens = self._reuse.unique_blocks * self._reuse.block_tokens
        """Tokens of all different blocks."""

    def hit_rate(self, tokens: int) -> float:
        """The best token hit rate (0..1) with room for so many tokens."""
        blocks = tokens // self._reuse.block_tokens
        if blocks >= self._reuse.unique_blocks:
            return self.ceiling
        if blocks not in self._known:
            self._known[blocks] = self._reuse.hit_rate(blocks)
        return self._known[blocks]

    def curves(self, *, one_pass: bool) -> list[Curve]:
        """The optimum, and `lru` where it is known from one pass."""
        unique, block = self._reuse.unique_blocks, self._reuse.block_tokens
        blocks = sorted(
            {max(1, round(unique * 1000 ** (step / STEPS - 1))) for step in range(STEPS + 1)}
        )
        tokens = [each * block for each in blocks]
        best = [self.hit_rate(each) for each in tokens]
        curves = [Curve("optimum", list(zip(tokens, best, strict=True)))]
        if one_pass:
            lru = lru_hit_rates(self._reuse, blocks)
            curves.append(Curve("lru", list(zip(tokens, lru, strict=True))))
        return curves
