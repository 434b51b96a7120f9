"""What a checkpoint says of its shape."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["llama", "mistral", "qwen2", "qwen3"]


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """Rotary embedding: base frequency and at most one scaling, in Hugging Face's terms."""

    theta: float
    kind: Literal["default", "linear", "llama3", "yarn", "divisors"] = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    """llama3 only."""
    high_freq_factor: float = 4.0
    """llama3 only."""
    original_max_positions: int = 0
    """llama3 and yarn."""
    beta_fast: float = 32.0
    """yarn only."""
    beta_slow: float = 1.0
    """yarn only."""
    attention_factor: float | None = None
    """yarn only: multiplies cos and sin; None derives it from the factor and the mscales."""
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True
    """yarn only: round the correction range to whole dimensions."""
    divisors: tuple[float, ...] = ()
    """divisors only: what each pair's frequency is divided by (GGUF stores llama3 scaling so)."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A decoder's shape."""

    family: Family
    vocab_size: int
    hidden_size: int
    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    ffn_size: int
    context_length: int
    norm_eps: float
    rope: RopeConfig
    tied_head: bool
    qkv_bias: bool
    qk_norm: bool
    eos_ids: tuple[int, ...]
    bos_id: int | None
