"""Architectures whose layers are all alike, or differ in their feed-forward part."""

from collections.abc import Sequence

from headstart.insight.plan.families.common import dense, local_experts, plain_attention, uniform
from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.shape import Layer

MISTRAL_WINDOW = 4096
"""What a Mistral config that says nothing means."""


def llama_like(fields: Fields) -> list[Layer]:
    """Llama, and whatever else looks like it."""
    return uniform(fields, dense(fields))


def mistral(fields: Fields) -> list[Layer]:
    """A window in every layer, unless it is null."""
    return uniform(fields, dense(fields), default_window=MISTRAL_WINDOW)


def qwen2(fields: Fields) -> list[Layer]:
    """Biases of queries, keys and values."""
    attention = plain_attention(fields)
    bias = (attention.heads + 2 * attention.kv_heads) * attention.head_dim
    return uniform(fields, dense(fields), extra=bias, opt_in=True)


def qwen3(fields: Fields) -> list[Layer]:
    """Norms of queries and keys, per head."""
    norms = 2 * plain_attention(fields).head_dim
    return uniform(fields, dense(fields), extra=norms, opt_in=True)


def qwen2_moe(fields: Fields) -> list[Layer]:
    """Biases as Qwen2's; experts, and one that is shared and gated."""
    ffn = Ffn(
        fields.number("hidden_size"),
        fields.number("shared_expert_intermediate_size"),
        experts=fields.number("num_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=fields.number("moe_intermediate_size"),
        shared_gate=True,
    )
    return _sparse(fields, [Layer(layer.mixer, ffn, layer.norms) for layer in qwen2(fields)])


def qwen3_moe(fields: Fields) -> list[Layer]:
    """Experts in every layer, or in every n-th."""
    sparse = Ffn(
        fields.number("hidden_size"),
        0,
        experts=fields.number("num_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=fields.number("moe_intermediate_size"),
    )
    layers = uniform(fields, sparse, extra=2 * plain_attention(fields).head_dim, opt_in=True)
    return _sparse(fields, layers)


def _sparse(fields: Fields, layers: Sequence[Layer]) -> list[Layer]:
    """Dense where the config says that a layer has no experts."""
    step, named = fields.number("decoder_sparse_step", default=1), fields.raw("mlp_only_layers")
    plain = named if isinstance(named, list) else []
    return [
        layer
        if (at + 1) % step == 0 and at not in plain
        else Layer(layer.mixer, dense(fields), layer.norms)
        for at, layer in enumerate(layers)
    ]


def mixtral(fields: Fields) -> list[Layer]:
    """Experts in every layer."""
    return uniform(fields, local_experts(fields))


def minimax_m2(fields: Fields) -> list[Layer]:
    """Experts, and norms over all heads."""
    attention = plain_attention(fields)
    norms = (attention.heads + attention.kv_heads) * attention.head_dim
    return uniform(fields, local_experts(fields), extra=norms)
