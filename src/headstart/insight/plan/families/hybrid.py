"""Architectures that mix attention with recurrent layers."""

from collections.abc import Callable, Mapping

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.families.common import dense
from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.mixers.attention import Attention
from headstart.insight.plan.mixers.mixer import Mixer
from headstart.insight.plan.mixers.recurrent import gated_delta, mamba2
from headstart.insight.plan.shape import Layer


def qwen3_5(fields: Fields) -> list[Layer]:
    """A gated delta rule in three of four layers."""
    hidden, count = fields.number("hidden_size"), fields.layers
    kinds = fields.sequence("layer_types", count)
    every = fields.number("full_attention_interval", default=4)
    heads, head_dim = fields.number("num_attention_heads"), fields.number("head_dim")
    kv_heads = fields.number("num_key_value_heads")
    full = Attention(hidden, heads, kv_heads, head_dim, head_dim, gated=True, extra=2 * head_dim)
    linear = gated_delta(
        hidden=hidden,
        key_heads=fields.number("linear_num_key_heads"),
        key_dim=fields.number("linear_key_head_dim"),
        value_heads=fields.number("linear_num_value_heads"),
        value_dim=fields.number("linear_value_head_dim"),
        kernel=fields.number("linear_conv_kernel_dim"),
    )
    if experts := fields.number("num_experts", default=0, least=0):
        ffn = Ffn(
            hidden,
            fields.number("shared_expert_intermediate_size"),
            experts=experts,
            active=fields.number("num_experts_per_tok"),
            expert_width=fields.number("moe_intermediate_size"),
            shared_gate=True,
        )
    else:
        ffn = dense(fields)
    return [
        Layer(
            full if (kinds[at] == "full_attention" if kinds else (at + 1) % every == 0) else linear,
            ffn,
            2 * hidden,
        )
        for at in range(count)
    ]


def nemotron_h(fields: Fields) -> list[Layer]:
    """Mamba-2, attention, dense and expert layers in a pattern."""
    hidden = fields.number("hidden_size")
    mamba = mamba2(
        hidden=hidden,
        heads=fields.number("mamba_num_heads"),
        head_dim=fields.number("mamba_head_dim"),
        groups=fields.number("n_groups"),
        state=fields.number("ssm_state_size"),
        kernel=fields.number("conv_kernel"),
    )
    parts: Mapping[str, Callable[[], tuple[Mixer | None, Ffn | None]]] = {
        "M": lambda: (mamba, None),
        "*": lambda: (_nemotron_attention(fields), None),
        "-": lambda: (None, Ffn(hidden, fields.number("intermediate_size"), gated=False)),
        "E": lambda: (None, _nemotron_experts(fields)),
    }
    pattern = _nemotron_pattern(fields)
    if unknown := set(pattern) - set(parts):
        raise PlanError(f"hybrid_override_pattern has unknown layers {''.join(sorted(unknown))}.")
    built = {kind: Layer(*parts[kind](), hidden) for kind in set(pattern)}
    return [built[kind] for kind in pattern]


_NEMOTRON_KINDS = {
    "linear_attention": "M",
    "mamba": "M",
    "full_attention": "*",
    "attention": "*",
    "mlp": "-",
    "moe": "E",
}


def _nemotron_pattern(fields: Fields) -> str:
    named = fields.raw("layers_block_type")
    if isinstance(named, list):
        return "".join(_NEMOTRON_KINDS.get(str(kind), "?") for kind in named)
    pattern = fields.text("hybrid_override_pattern")
    if not pattern:
        raise PlanError("hybrid_override_pattern is missing.")
    return pattern


def _nemotron_attention(fields: Fields) -> Attention:
    hidden, heads = fields.number("hidden_size"), fields.number("num_attention_heads")
    head_dim = fields.number("head_dim", "attention_head_dim", default=hidden // heads)
    return Attention(hidden, heads, fields.number("num_key_value_heads"), head_dim, head_dim)


def _nemotron_experts(fields: Fields) -> Ffn:
    if fields.raw("moe_latent_size"):
        raise PlanError("moe_latent_size is not supported.")
    return Ffn(
        fields.number("hidden_size"),
        fields.number("moe_shared_expert_intermediate_size"),
        experts=fields.number("n_routed_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=fields.number("moe_intermediate_size"),
        gated=False,
    )
