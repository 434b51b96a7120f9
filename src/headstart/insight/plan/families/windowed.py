"""Architectures some of whose layers attend to a window or a chunk."""

from collections.abc import Sequence

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.families.common import dense, plain_attention
from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.mixers.attention import Attention
from headstart.insight.plan.shape import Layer
from headstart.insight.plan.windows import windows

GEMMA_WINDOW = 4096
"""What a Gemma or Command config that says nothing means."""


def gpt_oss(fields: Fields) -> list[Layer]:
    """A window in every other layer, sinks, biases, packed experts."""
    hidden, width = fields.number("hidden_size"), fields.number("intermediate_size")
    experts, heads = fields.number("num_local_experts"), fields.number("num_attention_heads")
    ffn = Ffn(
        hidden,
        0,
        experts=experts,
        active=fields.number("num_experts_per_tok", "experts_per_token"),
        expert_width=width,
        extra=experts,
        expert_extra=2 * width + hidden,
    )
    return [
        Layer(plain_attention(fields, window=window, extra=heads), ffn, 2 * hidden)
        for window in windows(fields, alternating=True)
    ]


def llama4(fields: Fields) -> list[Layer]:
    """Chunks in three of four layers."""
    hidden, count = fields.number("hidden_size"), fields.layers
    step = fields.number("interleave_moe_layer_step", default=1)
    unroped = fields.sequence("no_rope_layers", count)
    width = fields.number("intermediate_size")
    sparse = Ffn(
        hidden,
        width,
        experts=fields.number("num_local_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=width,
    )
    dense = Ffn(hidden, fields.number("intermediate_size_mlp"))
    full = plain_attention(fields)
    chunk = fields.number("attention_chunk_size", default=8192)
    local = Attention(hidden, full.heads, full.kv_heads, full.head_dim, full.head_dim, chunk=chunk)
    return [
        Layer(
            local if (unroped[at] if unroped else (at + 1) % 4) else full,
            sparse if (at + 1) % step == 0 else dense,
            2 * hidden,
        )
        for at in range(count)
    ]


def mimo_v2(fields: Fields) -> list[Layer]:
    """Windows with more KV heads, values narrower than keys."""
    hidden, heads = fields.number("hidden_size"), fields.number("num_attention_heads")
    kv_heads, head_dim = fields.number("num_key_value_heads"), fields.number("head_dim")
    value_dim = fields.number("v_head_dim")
    local_heads = fields.number("swa_num_key_value_heads", default=2 * kv_heads)
    full = Attention(hidden, heads, kv_heads, head_dim, value_dim)
    sparse = Ffn(
        hidden,
        0,
        experts=fields.number("n_routed_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=fields.number("moe_intermediate_size"),
    )
    pattern = fields.sequence("hybrid_layer_pattern", fields.layers)
    local = windows(fields) if pattern is None else [fields.number("sliding_window")] * len(pattern)
    return [
        Layer(
            Attention(hidden, heads, local_heads, head_dim, value_dim, window=window, extra=heads)
            if (window if pattern is None else pattern[at])
            else full,
            sparse if at else dense(fields),
            2 * hidden,
        )
        for at, window in enumerate(local)
    ]


def gemma2(fields: Fields) -> list[Layer]:
    """A window in every other layer."""
    return _gemma(fields, windows(fields, default=GEMMA_WINDOW, alternating=True), norms=0)


def gemma3(fields: Fields) -> list[Layer]:
    """Windows in five of six layers, norms of queries and keys."""
    return _gemma(fields, windows(fields, default=GEMMA_WINDOW, pattern=6), norms=2)


def _gemma(fields: Fields, local: Sequence[int | None], *, norms: int) -> list[Layer]:
    """Gemma 2 and 3: four norms a layer, and `norms` over a head's dimensions."""
    hidden, heads = fields.number("hidden_size"), fields.number("num_attention_heads")
    kv_heads, head_dim = fields.number("num_key_value_heads"), fields.number("head_dim")
    extra = norms * head_dim
    return [
        Layer(
            Attention(hidden, heads, kv_heads, head_dim, head_dim, window, extra=extra),
            dense(fields),
            4 * hidden,
        )
        for window in local
    ]


def cohere2(fields: Fields) -> list[Layer]:
    """Windows in three of four layers, one norm."""
    return [
        Layer(plain_attention(fields, window=window), dense(fields), fields.number("hidden_size"))
        for window in windows(fields, default=GEMMA_WINDOW, pattern=4)
    ]


def gemma4(fields: Fields) -> list[Layer]:
    """Windows in five of six layers, values shared with keys in the others."""
    for field in ("num_kv_shared_layers", "hidden_size_per_layer_input"):
        if fields.number(field, default=0, least=0):
            raise PlanError(f"{field} is not supported.")
    hidden, heads = fields.number("hidden_size"), fields.number("num_attention_heads")
    head_dim, kv_heads = fields.number("head_dim"), fields.number("num_key_value_heads")
    wide = fields.number("global_head_dim", default=head_dim)
    tied = fields.flag("attention_k_eq_v")
    shared = fields.number("num_global_key_value_heads", default=kv_heads) if tied else kv_heads
    full = Attention(hidden, heads, shared, wide, wide, shared_kv=tied, extra=2 * wide)
    experts = fields.number("num_experts") if fields.flag("enable_moe_block") else 0
    ffn = Ffn(
        hidden,
        fields.number("intermediate_size"),
        experts=experts,
        active=fields.number("top_k_experts") if experts else 0,
        expert_width=fields.number("moe_intermediate_size") if experts else 0,
        extra=experts + hidden if experts else 0,
    )
    return [
        Layer(
            Attention(hidden, heads, kv_heads, head_dim, head_dim, window, extra=2 * head_dim)
            if window
            else full,
            ffn,
            (7 if experts else 4) * hidden,
        )
        for window in windows(fields, every=6)
    ]
