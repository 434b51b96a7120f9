"""The decoder: Llama 2/3, SmolLM2, Mistral, Qwen2 and Qwen3 in one forward pass.

    x = embed(tokens)
    for each layer:
        q, k, v = heads(linear(norm(x)));  [norm q and k: Qwen3];  rotate q and k
        x += linear(attention(q, past k v and these))
        x += down(silu(gate(norm(x))) * up(norm(x)))
    logits = head(norm(x))

A step's tokens of all sequences lie in one flat row dimension N; only attention knows which row
belongs to whom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from headstart.model.attention import PagedAttention
from headstart.model.config import ModelConfig
from headstart.model.kv import KVPool
from headstart.model.lora import AdapterLayer, LowRank
from headstart.model.rope import rope_table
from headstart.model.weights import LayerWeights, Weights


class Linear(Protocol):
    """`x [N, in]`, weight `[out, in]`, bias `[out]` → `[N, out]`. The seam for a faster kernel."""

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """See the class."""
        ...


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """PyTorch's own, which takes AMX or AVX-512 where the CPU has them."""
    return F.linear(x, weight, bias)


@dataclass(frozen=True, slots=True)
class Step:
    """What one forward pass works on."""

    tokens: Tensor
    """[N]"""
    positions: Tensor
    """[N]"""
    slots: Tensor
    """[N]: where in the pool each row's key and value go."""
    attention: PagedAttention
    wanted: Tensor
    """[W]: the rows whose logits are asked for."""
    adapters: Sequence[tuple[slice, Sequence[AdapterLayer]]] = ()
    """Rows that run under a LoRA adapter, and its layers."""


class Decoder:
    """Weights and position table. Stateless between steps: all memory is in the pool."""

    def __init__(
        self,
        config: ModelConfig,
        weights: Weights,
        *,
        positions: int,
        linear: Linear = linear,
    ) -> None:
        self.config = config
        self._weights = weights
        self._linear = linear
        dtype, device = weights.embed.dtype, weights.embed.device
        cos, sin = rope_table(config.rope, config.head_dim, positions, device)
        half = config.head_dim // 2
        self._cos = cos.to(dtype)[:, None]
        # rotate_half(x) * sin is roll(x, D/2) * sin with the first half's sign turned.
        self._sin = torch.cat((-sin[:, :half], sin[:, half:]), dim=-1).to(dtype)[:, None]

    @torch.inference_mode()
    def forward(self, step: Step, pool: KVPool) -> Tensor:
        """Run the step, write its keys and values to the pool, return logits `[W, V]` in fp32."""
        x = self._weights.embed[step.tokens]
        cos, sin = self._cos[step.positions], self._sin[step.positions]
        for number, layer in enumerate(self._weights.layers):
            adapters = [(rows, layers[number]) for rows, layers in step.adapters]
            x = x + self._attend(x, number, layer, step, pool, cos, sin, adapters)
            x = x + self._feed_forward(x, layer, adapters)
        x = self._norm(x[step.wanted], self._weights.norm)
        return self._linear(x, self._weights.head, None).float()

    def _attend(
        self,
        x: Tensor,
        number: int,
        layer: LayerWeights,
        step: Step,
        pool: KVPool,
        cos: Tensor,
        sin: Tensor,
        adapters: Sequence[tuple[slice, AdapterLayer]],
    ) -> Tensor:
        heads, kv_heads, dim = self.config.query_heads, self.config.kv_heads, self.config.head_dim
        h = self._norm(x, layer.attn_norm)
        qkv = self._linear(h, layer.qkv, layer.qkv_bias)
        key_from, value_from = heads * dim, (heads + kv_heads) * dim
        for rows, adapter in adapters:
            _add_low_rank(qkv[rows, :key_from], h[rows], adapter.q)
            _add_low_rank(qkv[rows, key_from:value_from], h[rows], adapter.k)
            _add_low_rank(qkv[rows, value_from:], h[rows], adapter.v)
        by_head = qkv.view(len(x), heads + 2 * kv_heads, dim)
        qk, values = by_head[:, : heads + kv_heads], by_head[:, heads + kv_heads :]
        if layer.q_norm is not None and layer.k_norm is not None:
            qk = torch.cat(
                (self._norm(qk[:, :heads], layer.q_norm), self._norm(qk[:, heads:], layer.k_norm)),
                1,
            )
        qk = torch.addcmul(qk * cos, qk.roll(dim // 2, -1), sin)
        queries, keys = qk[:, :heads], qk[:, heads:]
        pool.write(number, step.slots, keys, values)
        attended = step.attention(number, queries, keys, values).reshape(len(x), heads * dim)
        out = self._linear(attended, layer.out, None)
        for rows, adapter in adapters:
            _add_low_rank(out[rows], attended[rows], adapter.o)
        return out

    def _feed_forward(
        self, x: Tensor, layer: LayerWeights, adapters: Sequence[tuple[slice, AdapterLayer]]
    ) -> Tensor:
        h = self._norm(x, layer.mlp_norm)
        gate_up = self._linear(h, layer.gate_up, None)
        width = self.config.ffn_size
        gate, up = gate_up[:, :width], gate_up[:, width:]
        for rows, adapter in adapters:
            _add_low_rank(gate[rows], h[rows], adapter.gate)
            _add_low_rank(up[rows], h[rows], adapter.up)
        inner = F.silu(gate) * up
        out = self._linear(inner, layer.down, None)
        for rows, adapter in adapters:
            _add_low_rank(out[rows], inner[rows], adapter.down)
        return out

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.config.norm_eps)


def _add_low_rank(out: Tensor, x: Tensor, low_rank: LowRank | None) -> None:
    if low_rank is not None:
        out += F.linear(F.linear(x, low_rank.a), low_rank.b)
