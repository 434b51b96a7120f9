"""ModelConfig from a Hugging Face `config.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headstart.model.config import Family, ModelConfig
from headstart.model.errors import ModelError
from headstart.model.hf_rope import parse_rope

FAMILIES: Mapping[str, Family] = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
}

_DEFAULT_WINDOW = {"mistral": 4096}
"""What `sliding_window` is when a config of this family doesn't say."""


def read_hf_config(file: Path) -> ModelConfig:
    """Parse `config.json`, and the end-of-sequence ids of the `generation_config.json` beside it.

    Raises ModelError, with the field's name, for whatever this decoder would compute wrongly.
    """
    config = _read_object(file)
    generation = file.with_name("generation_config.json")
    try:
        return parse_hf_config(config, _read_object(generation) if generation.is_file() else {})
    except ModelError as error:
        raise ModelError(f"{file}: {error}") from None


def parse_hf_config(config: Mapping[str, Any], generation: Mapping[str, Any]) -> ModelConfig:
    """As `read_hf_config`, of the two files' contents."""
    family = _family(config)
    _refuse_unsupported(config)
    hidden, heads = _size(config, "hidden_size"), _size(config, "num_attention_heads")
    head_dim = config.get("head_dim") or hidden // heads
    if head_dim % 2:
        raise ModelError(f"head_dim = {head_dim} is odd; rotary embedding needs pairs.")
    kv_heads = heads
    if config.get("num_key_value_heads") is not None:
        kv_heads = _size(config, "num_key_value_heads")
    if heads % kv_heads:
        raise ModelError(
            f"num_attention_heads = {heads} is no multiple of the {kv_heads} kv heads."
        )
    rope, context = parse_rope(config, _size(config, "max_position_embeddings"))
    layers = _size(config, "num_hidden_layers")
    _refuse_sliding_window(config, family, layers, context)
    eos = [*_ids(config.get("eos_token_id")), *_ids(generation.get("eos_token_id"))]
    return ModelConfig(
        family=family,
        vocab_size=_size(config, "vocab_size"),
        hidden_size=hidden,
        layers=layers,
        query_heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn_size=_size(config, "intermediate_size"),
        context_length=context,
        norm_eps=float(config.get("rms_norm_eps", 1e-6)),
        rope=rope,
        tied_head=bool(config.get("tie_word_embeddings", False)),
        qkv_bias=family == "qwen2",
        qk_norm=family == "qwen3",
        eos_ids=tuple(dict.fromkeys(eos)),
        bos_id=next(iter(_ids(config.get("bos_token_id"))), None),
    )


def _family(config: Mapping[str, Any]) -> Family:
    named = config.get("architectures") or [f"model_type {config.get('model_type')}"]
    if named[0] in FAMILIES:
        return FAMILIES[named[0]]
    raise ModelError(f"architecture {named[0]} is not supported. Supported: {', '.join(FAMILIES)}.")


def _refuse_unsupported(config: Mapping[str, Any]) -> None:
    for field in ("attention_bias", "mlp_bias"):
        if config.get(field):
            raise ModelError(f"{field} = true is not supported.")
    activation = config.get("hidden_act", "silu")
    if activation not in ("silu", "swish"):
        raise ModelError(f"hidden_act = {activation} is not supported, only silu.")
    if quantization := config.get("quantization_config"):
        method = quantization.get("quant_method", "unknown")
        raise ModelError(
            f"quantization_config ({method}) is not supported. Use the unquantised checkpoint or a "
            "GGUF file of this model."
        )


def _refuse_sliding_window(
    config: Mapping[str, Any], family: Family, layers: int, context: int
) -> None:
    """A window no smaller than the context, or of no layer, changes nothing."""
    window = config.get("sliding_window", _DEFAULT_WINDOW.get(family))
    if family in ("qwen2", "qwen3"):
        applies = config.get("use_sliding_window", False)
        types = config.get("layer_types")
        if types is None:
            windowed = config.get("max_window_layers", 28) < layers
        else:
            windowed = any(kind != "full_attention" for kind in types)
        window = window if applies and windowed else None
    if window is not None and window < context:
        raise ModelError(
            f"sliding_window = {window} is below the context of {context} tokens; attention in a "
            "sliding window is not supported, and leaving it out would give wrong answers."
        )


def _size(config: Mapping[str, Any], field: str) -> int:
    value = config.get(field)
    if not isinstance(value, int) or value < 1:
        raise ModelError(f"{field} must be a positive number, not {value!r}.")
    return value


def _ids(value: int | list[int] | None) -> list[int]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _read_object(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise ModelError(f"{file} can't be read: {error.strerror}.") from None
    except ValueError as error:
        raise ModelError(f"{file} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{file} is not a JSON object.")
    return content
