"""Parts that most architectures share."""

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.mixers.attention import Attention
from headstart.insight.plan.shape import Layer
from headstart.insight.plan.windows import windows


def plain_attention(fields: Fields, *, window: int | None = None, extra: int = 0) -> Attention:
    """Grouped queries, as most configs describe them; `extra` adds to the biases named there."""
    hidden, heads = fields.number("hidden_size"), fields.number("num_attention_heads")
    kv_heads = fields.number("num_key_value_heads", default=heads)
    head_dim = fields.number("head_dim", default=max(1, hidden // heads))
    if heads % kv_heads:
        raise PlanError(f"num_attention_heads {heads} is no multiple of {kv_heads} KV heads.")
    if fields.flag("attention_bias"):
        extra += (heads + 2 * kv_heads) * head_dim + hidden
    return Attention(hidden, heads, kv_heads, head_dim, head_dim, window=window, extra=extra)


def uniform(
    fields: Fields, ffn: Ffn, *, default_window: int = 0, extra: int = 0, opt_in: bool = False
) -> list[Layer]:
    """The same layer throughout, but for its window."""
    norms = 2 * fields.number("hidden_size")
    return [
        Layer(plain_attention(fields, window=window, extra=extra), ffn, norms)
        for window in windows(fields, default=default_window, opt_in=opt_in)
    ]


def dense(fields: Fields) -> Ffn:
    """SwiGLU."""
    hidden, width = fields.number("hidden_size"), fields.number("intermediate_size", default=0)
    if not width:
        raise PlanError("intermediate_size is missing: this is no config of a decoder we know.")
    return Ffn(hidden, width, extra=2 * width + hidden if fields.flag("mlp_bias") else 0)


def local_experts(fields: Fields) -> Ffn:
    """Experts as Mixtral names them."""
    return Ffn(
        fields.number("hidden_size"),
        0,
        experts=fields.number("num_local_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=fields.number("intermediate_size"),
    )
