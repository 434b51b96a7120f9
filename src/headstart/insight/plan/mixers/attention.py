"""Multi-head and grouped-query attention, over all positions, a window or a chunk."""

from dataclasses import dataclass

from headstart.insight.plan import spans
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.kv_types import KvType


@dataclass(frozen=True, slots=True)
class Attention:
    """Multi-head or grouped-query attention; at most one of `window` and `chunk` is set."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    window: int | None = None
    chunk: int | None = None
    gated: bool = False
    """Queries are projected twice: one half gates the output (Qwen3.5)."""
    shared_kv: bool = False
    """Values are the keys: kept twice by engines, projected once (Gemma 4)."""
    extra: int = 0
    """Parameters outside the matrices."""

    @property
    def matrix(self) -> int:
        """Queries, keys, values and output."""
        queries = self.heads * self.head_dim * (2 if self.gated else 1)
        keys = self.kv_heads * self.head_dim
        values = 0 if self.shared_kv else self.kv_heads * self.value_dim
        return self.hidden * (queries + keys + values + self.heads * self.value_dim)

    @property
    def parameters(self) -> int:
        """Matrices and what is beside them."""
        return self.matrix + self.extra

    def kv_bytes(self, kind: KvType, ranks: int = 1) -> int:
        """2 n_kv d_h b; a head is kept twice where there are more ranks than heads."""
        if kind.packed_latent:
            raise PlanError(f"KV type {kind.name} is for latent attention (MLA) only.")
        return -(-self.kv_heads // ranks) * (self.head_dim + self.value_dim) * kind.element

    def kept(self, tokens: int) -> int:
        """No more than the window or the chunk."""
        return min(tokens, self.window or self.chunk or tokens)

    def state_bytes(self, ranks: int = 1) -> int:  # noqa: ARG002
        """None."""
        return 0

    def attention(self, begin: int, end: int) -> int:
        """A product for the score and one for the value, per pair and head: 4 d_q if they are of
        one size."""
        if self.window is not None:
            pairs = spans.windowed(begin, end, self.window)
        elif self.chunk is not None:
            pairs = spans.chunked(begin, end, self.chunk)
        else:
            pairs = spans.causal(begin, end)
        return self._pair * pairs

    def full_attention(self, tokens: int) -> int:
        """4 S² d_q."""
        return self._pair * tokens * self.kept(tokens)

    def resumed(self, tokens: int) -> int:  # noqa: ARG002
        """Nothing: keys and values are read as they are."""
        return 0

    @property
    def _pair(self) -> int:
        return 2 * self.heads * (self.head_dim + self.value_dim)
