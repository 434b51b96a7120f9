"""Multi-head latent attention, and DeepSeek's indexer beside it."""

from dataclasses import dataclass

from headstart.insight.plan import spans
from headstart.insight.plan.kv_types import KvType

INDEX_GROUP = 128
"""Elements of an fp8 latent or indexer key that share a float32 scale."""


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention (MLA), with DeepSeek's sparse indexer where `index_heads` > 0."""

    hidden: int
    heads: int
    query_rank: int
    """0: queries are projected at once."""
    latent: int
    nope: int
    rope: int
    value_dim: int
    index_heads: int = 0
    index_dim: int = 0
    index_topk: int = 0
    """Positions that a query attends to, chosen by the indexer."""

    @property
    def matrix(self) -> int:
        """Low-rank queries, the latent, its expansion to keys and values, output, indexer."""
        width = self.heads * (self.nope + self.rope)
        queries = self.hidden * width
        if self.query_rank:
            queries = self.hidden * self.query_rank + self.query_rank * width
        down = self.hidden * (self.latent + self.rope)
        output = self.heads * self.value_dim * self.hidden
        return queries + down + self._expansion + output + self._indexer

    @property
    def parameters(self) -> int:
        """Matrices, the norms of both low ranks, and the indexer's layer norm."""
        norms = self.query_rank + self.latent + (2 * self.index_dim if self.index_heads else 0)
        return self.matrix + norms

    def kv_bytes(self, kind: KvType, ranks: int = 1) -> int:  # noqa: ARG002
        """(kv_lora + qk_rope) b for keys and values together, whole on every rank.

        The indexer's key beside it is fp8 with scales, as vLLM and SGLang keep it.
        """
        kept = (self.latent + self.rope) * kind.element
        if kind.packed_latent:
            kept = self.latent + 4 * (self.latent // INDEX_GROUP) + 2 * self.rope
        if self.index_heads:
            kept += self.index_dim + 4 * (self.index_dim // INDEX_GROUP)
        return kept

    def kept(self, tokens: int) -> int:
        """All."""
        return tokens

    def state_bytes(self, ranks: int = 1) -> int:  # noqa: ARG002
        """None."""
        return 0

    def attention(self, begin: int, end: int) -> int:
        """Keys and values expanded, as engines prefill; the indexer looks at every pair."""
        if not self.index_heads:
            return self._pair * spans.causal(begin, end)
        indexed = 2 * self.index_heads * self.index_dim * spans.causal(begin, end)
        return self._pair * spans.windowed(begin, end, self.index_topk) + indexed

    def full_attention(self, tokens: int) -> int:
        """As `attention` without the mask."""
        if not self.index_heads:
            return self._pair * tokens * tokens
        indexed = 2 * self.index_heads * self.index_dim * tokens * tokens
        return self._pair * tokens * min(tokens, self.index_topk) + indexed

    def resumed(self, tokens: int) -> int:
        """Cached latents are expanded to keys and values again."""
        return 2 * self._expansion * tokens

    @property
    def _pair(self) -> int:
        return 2 * self.heads * (self.nope + self.rope + self.value_dim)

    @property
    def _expansion(self) -> int:
        return self.latent * self.heads * (self.nope + self.value_dim)

    @property
    def _indexer(self) -> int:
        if not self.index_heads:
            return 0
        queries = (self.query_rank or self.hidden) * self.index_heads * self.index_dim
        return queries + self.hidden * (self.index_dim + self.index_heads)
