"""The feed-forward part of a layer: dense, or experts of which a few compute."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ffn:
    """`experts` 0 is dense. A layer may have both: `width` beside or shared by the experts."""

    hidden: int
    width: int
    """Of the part that every position passes; 0 is none."""
    experts: int = 0
    active: int = 0
    expert_width: int = 0
    gated: bool = True
    """Three matrices (SwiGLU) instead of two."""
    shared_gate: bool = False
    extra: int = 0
    """Parameters outside the matrices."""
    expert_extra: int = 0
    """Of each expert."""

    @property
    def parameters(self) -> int:
        """All experts."""
        return self._always + self.extra + self.experts * (self._expert + self.expert_extra)

    @property
    def matrix(self) -> int:
        """What one position is multiplied by."""
        return self._always + self.active * self._expert

    @property
    def expert_matrices(self) -> int:
        """Parameters of all experts' matrices."""
        return self.experts * self._expert

    def touched(self, tokens: int) -> int:
        """Parameters that `tokens` positions read, if they spread evenly over the experts."""
        share = 0.0
        if self.experts:
            share = 1 - (1 - self.active / self.experts) ** tokens
        return (
            self._always
            + self.extra
            + round(share * self.experts * (self._expert + self.expert_extra))
        )

    @property
    def _always(self) -> int:
        router = self.hidden * self.experts + (self.hidden if self.shared_gate else 0)
        return self._matrices * self.hidden * self.width + router

    @property
    def _expert(self) -> int:
        return self._matrices * self.hidden * self.expert_width

    @property
    def _matrices(self) -> int:
        return 3 if self.gated else 2
