"""The shape of a loaded decoder: every supported family in one set of names."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One decoder layer: H hidden, Q query heads, K key/value heads, D head dim, F feed-forward.

    Linear weights are `[out, in]` as `torch.nn.functional.linear` takes them.
    """

    attn_norm: Tensor
    """[H]"""
    qkv: Tensor
    """[(Q + 2K) * D, H]: queries, keys, values in that order, each in Hugging Face's row order."""
    qkv_bias: Tensor | None
    """[(Q + 2K) * D] (Qwen2)."""
    q_norm: Tensor | None
    """[D] (Qwen3)."""
    k_norm: Tensor | None
    """[D] (Qwen3)."""
    out: Tensor
    """[H, Q * D]"""
    mlp_norm: Tensor
    """[H]"""
    gate_up: Tensor
    """[2F, H]: gate rows, then up rows."""
    down: Tensor
    """[H, F]"""


@dataclass(frozen=True, slots=True)
class Weights:
    """A whole decoder. V is the vocabulary."""

    embed: Tensor
    """[V, H]"""
    layers: tuple[LayerWeights, ...]
    norm: Tensor
    """[H]"""
    head: Tensor
    """[V, H]; the same tensor as `embed` where the family ties them."""
