"""What a layer keeps per position, and what it computes with it."""

from typing import Protocol

from headstart.insight.plan.kv_types import KvType


class Mixer(Protocol):
    """One layer's mixing of positions, over all ranks unless it says otherwise."""

    @property
    def parameters(self) -> int:
        """All of them, biases and inner norms too."""
        ...

    @property
    def matrix(self) -> int:
        """Parameters that every new position is multiplied by."""
        ...

    def kv_bytes(self, kind: KvType, ranks: int = 1) -> int:
        """One position's bytes on each of `ranks` tensor-parallel ranks. Raises PlanError."""
        ...

    def kept(self, tokens: int) -> int:
        """Positions whose KV a prefix of `tokens` needs to be continued."""
        ...

    def state_bytes(self, ranks: int = 1) -> int:
        """One checkpoint's bytes on each of `ranks` ranks, whatever the prefix's length."""
        ...

    def attention(self, begin: int, end: int) -> int:
        """FLOPs of attending from positions `begin` … `end` - 1, causal."""
        ...

    def full_attention(self, tokens: int) -> int:
        """The same from 0 to `tokens`, as if every position saw the whole span."""
        ...

    def resumed(self, tokens: int) -> int:
        """FLOPs that reading `tokens` cached positions costs besides attention."""
        ...
