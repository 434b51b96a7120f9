"""Architectures with latent attention."""

from headstart.insight.plan.families.common import dense
from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.mixers.latent import Latent
from headstart.insight.plan.shape import Layer


def deepseek(fields: Fields) -> list[Layer]:
    """MLA and experts: DeepSeek-V3, Kimi-K2; with an indexer V3.2 and GLM-5."""
    hidden, width = fields.number("hidden_size"), fields.number("moe_intermediate_size")
    indexed = fields.text("model_type") in ("deepseek_v32", "glm_moe_dsa")
    mixer = Latent(
        hidden,
        fields.number("num_attention_heads"),
        query_rank=fields.number("q_lora_rank", default=0),
        latent=fields.number("kv_lora_rank"),
        nope=fields.number("qk_nope_head_dim"),
        rope=fields.number("qk_rope_head_dim"),
        value_dim=fields.number("v_head_dim"),
        index_heads=fields.number("index_n_heads") if indexed else 0,
        index_dim=fields.number("index_head_dim") if indexed else 0,
        index_topk=fields.number("index_topk") if indexed else 0,
    )
    sparse = Ffn(
        hidden,
        fields.number("n_shared_experts", default=0, least=0) * width,
        experts=fields.number("n_routed_experts"),
        active=fields.number("num_experts_per_tok"),
        expert_width=width,
    )
    first = fields.number("first_k_dense_replace", default=0, least=0)
    return [
        Layer(mixer, sparse if at >= first else dense(fields), 2 * hidden)
        for at in range(fields.layers)
    ]
