"""What computes: memory, operations and bandwidth, and how long some work takes on it."""

from dataclasses import dataclass
from typing import Literal

Bound = Literal["compute", "bandwidth"]


@dataclass(frozen=True, slots=True)
class Machine:
    """`ranks` GPUs of one kind, over which a model is split evenly (tensor parallel)."""

    memory: int
    """Bytes of each."""
    flops: float
    """Operations a second that each really does, not its peak."""
    bandwidth: float
    """Bytes a second of each one's memory."""
    overhead: float
    """Seconds of a request that are no prefill: queue, network, scheduling."""
    reserve: int
    """Bytes of each that neither weights nor KV may have."""
    ranks: int = 1

    def seconds(self, flops: float, rank_bytes: float) -> float:
        """The longer of computing and of moving `rank_bytes` on each GPU."""
        return max(self._computing(flops), rank_bytes / self.bandwidth)

    def bound(self, flops: float, rank_bytes: float) -> Bound:
        """Which of the two it is."""
        return "compute" if self._computing(flops) >= rank_bytes / self.bandwidth else "bandwidth"

    def _computing(self, flops: float) -> float:
        return flops / (self.flops * self.ranks)
