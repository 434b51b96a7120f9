"""Every tensor a decoder of a given shape has, in Hugging Face's names."""

from collections.abc import Mapping
from typing import Literal

from headstart.model.config import ModelConfig

Projection = Literal["q", "k", "v", "o", "gate", "up", "down"]

EMBED, NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"
ATTN_NORM, MLP_NORM = "input_layernorm.weight", "post_attention_layernorm.weight"
Q_NORM, K_NORM = "self_attn.q_norm.weight", "self_attn.k_norm.weight"


def in_layer(number: int, name: str) -> str:
    """The full name of a tensor of decoder layer `number`."""
    return f"model.layers.{number}.{name}"


def projection(name: Projection, kind: Literal["weight", "bias"] = "weight") -> str:
    """A projection's name within its layer."""
    room = "mlp" if name in ("gate", "up", "down") else "self_attn"
    return f"{room}.{name}_proj.{kind}"


def projection_shapes(config: ModelConfig) -> Mapping[Projection, tuple[int, int]]:
    """(out, in) of each linear layer that a decoder layer has."""
    hidden, width = config.hidden_size, config.ffn_size
    queries, keys = config.query_heads * config.head_dim, config.kv_heads * config.head_dim
    return {
        "q": (queries, hidden),
        "k": (keys, hidden),
        "v": (keys, hidden),
        "o": (hidden, queries),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
    }


def inventory(config: ModelConfig) -> Mapping[str, tuple[int, ...]]:
    """Name → shape of every tensor that must be there, and no other may be."""
    layer: dict[str, tuple[int, ...]] = {
        ATTN_NORM: (config.hidden_size,),
        MLP_NORM: (config.hidden_size,),
    }
    for name, shape in projection_shapes(config).items():
        layer[projection(name)] = shape
        if config.qkv_bias and name in ("q", "k", "v"):
            layer[projection(name, "bias")] = shape[:1]
    if config.qk_norm:
        layer[Q_NORM] = layer[K_NORM] = (config.head_dim,)
    tensors: dict[str, tuple[int, ...]] = {
        EMBED: (config.vocab_size, config.hidden_size),
        NORM: (config.hidden_size,),
    }
    if not config.tied_head:
        tensors[HEAD] = tensors[EMBED]
    for number in range(config.layers):
        tensors |= {in_layer(number, name): shape for name, shape in layer.items()}
    return tensors
