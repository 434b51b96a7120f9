"""Layers of the architectures we know, by `model_type`, as transformers builds them."""

from collections.abc import Callable, Mapping

from headstart.insight.plan.families.hybrid import nemotron_h, qwen3_5
from headstart.insight.plan.families.latent import deepseek
from headstart.insight.plan.families.uniform import (
    llama_like,
    minimax_m2,
    mistral,
    mixtral,
    qwen2,
    qwen2_moe,
    qwen3,
    qwen3_moe,
)
from headstart.insight.plan.families.windowed import (
    cohere2,
    gemma2,
    gemma3,
    gemma4,
    gpt_oss,
    llama4,
    mimo_v2,
)
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.shape import Layer

__all__ = ["FAMILIES", "llama_like"]

FAMILIES: Mapping[str, Callable[[Fields], list[Layer]]] = {
    "cohere2": cohere2,
    "deepseek_v2": deepseek,
    "deepseek_v3": deepseek,
    "deepseek_v32": deepseek,
    "gemma2": gemma2,
    "gemma3": gemma3,
    "gemma3_text": gemma3,
    "gemma4": gemma4,
    "gemma4_text": gemma4,
    "glm_moe_dsa": deepseek,
    "gpt_oss": gpt_oss,
    "kimi_k2": deepseek,
    "llama": llama_like,
    "llama4": llama4,
    "llama4_text": llama4,
    "mimo_v2_flash": mimo_v2,
    "minimax_m2": minimax_m2,
    "mistral": mistral,
    "mixtral": mixtral,
    "nemotron_h": nemotron_h,
    "phi3": llama_like,
    "qwen2": qwen2,
    "qwen2_moe": qwen2_moe,
    "qwen3": qwen3,
    "qwen3_5": qwen3_5,
    "qwen3_5_moe": qwen3_5,
    "qwen3_5_moe_text": qwen3_5,
    "qwen3_5_text": qwen3_5,
    "qwen3_moe": qwen3_moe,
    "qwen3_next": qwen3_5,
}
