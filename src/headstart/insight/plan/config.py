"""From a Hugging Face `config.json` to a shape."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.families import FAMILIES, llama_like
from headstart.insight.plan.fields import Fields
from headstart.insight.plan.shape import Layer, Shape

MOST_BYTES = 64 << 20
"""Configs are a few KB, or some MB where they name quantised modules one by one."""
DTYPE_BITS = {"float32": 32.0, "bfloat16": 16.0, "float16": 16.0}
UNLIKE_LLAMA = (
    "attn_layer_period",
    "attn_type_list",
    "block_configs",
    "full_attention_interval",
    "hybrid_override_pattern",
    "kv_lora_rank",
    "linear_num_key_heads",
    "mamba_d_state",
    "n_routed_experts",
    "num_experts",
    "num_kv_shared_layers",
    "num_local_experts",
    "ssm_state_size",
    "state_size",
)
"""Fields of latents, experts, recurrent layers and shared KV: without them a Llama's KV and weights
would be off by a multiple."""
TIED = ("cohere", "gemma")
"""Whose head is the embedding unless a config says otherwise."""
MXFP4_BITS = 4.25
"""4 bits, and a byte of scale for each 32 elements; only experts are packed so."""


def read_config(path: Path) -> Shape:
    """The file, or the `config.json` in a directory. Raises PlanError."""
    file = path / "config.json" if path.is_dir() else path
    try:
        if file.stat().st_size > MOST_BYTES:
            raise PlanError(f"{file} is too large for a config.json.")
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise PlanError(f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(f"{file} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise PlanError(f"{file} is not a JSON object.")
    try:
        return parse_config(content, name=path.name)
    except PlanError as error:
        raise PlanError(f"{file}: {error}") from None


def parse_config(config: Mapping[str, Any], *, name: str) -> Shape:
    """The shape that `config` describes; of several towers the text's. Raises PlanError."""
    inner = config.get("text_config")
    fields = Fields({**config, **inner} if isinstance(inner, dict) else config)
    family = fields.text("model_type") or ""
    counted = Counter((FAMILIES.get(family) or _guessed(fields))(fields))
    dtype = fields.text("torch_dtype", "dtype") or "bfloat16"
    if dtype not in DTYPE_BITS:
        raise PlanError(f"torch_dtype {dtype} is none of {', '.join(DTYPE_BITS)}.")
    weight_bits, expert_bits, method = _bits(fields, DTYPE_BITS[dtype])
    return Shape(
        name=name,
        hidden=fields.number("hidden_size"),
        vocab=fields.number("vocab_size"),
        tied=fields.flag("tie_word_embeddings", default=family.startswith(TIED)),
        layers=tuple((count, layer) for layer, count in counted.items()),
        dtype=dtype,
        plain_bits=DTYPE_BITS[dtype],
        weight_bits=weight_bits,
        expert_bits=expert_bits,
        quantized=method,
        context=fields.number("max_position_embeddings", default=0, least=0) or None,
        exact=family in FAMILIES,
    )


def _guessed(fields: Fields) -> Callable[[Fields], list[Layer]]:
    """How to read an unknown architecture. Raises PlanError where it is clearly no Llama."""
    family = fields.text("model_type") or "none"
    if unlike := next((name for name in UNLIKE_LLAMA if fields.raw(name)), None):
        raise PlanError(f"model_type {family} is not known, and {unlike} says it is no Llama.")
    told = fields.raw("layer_types") or fields.raw("sliding_window_pattern")
    if (
        fields.raw("sliding_window")
        and fields.flag("use_sliding_window", default=True)
        and not told
    ):
        raise PlanError(f"model_type {family} is not known, nor which layers have its window.")
    return llama_like


def _bits(fields: Fields, plain: float) -> tuple[float, float, str | None]:
    """Bits of a layer's parameter, and of an expert's; the quantisation's name."""
    given = fields.raw("quantization_config")
    if not isinstance(given, dict):
        return plain, plain, None
    quantization = Fields(given)
    method = quantization.text("quant_method") or "unknown"
    if method == "mxfp4":
        return plain, MXFP4_BITS, method
    if "fp8" in method:
        return 8.0, 8.0, method
    bits = float(quantization.number("bits", "w_bit", default=0, least=0) or _other_bits(given))
    if not bits:
        raise PlanError(f"quantization_config doesn't say how many bits {method} has.")
    return bits, bits, method


def _other_bits(quantization: Mapping[str, Any]) -> int:
    """As bitsandbytes and compressed-tensors say it; of several groups the widest. 0 is unsaid."""
    for field, bits in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        if quantization.get(field) is True:
            return bits
    groups = quantization.get("config_groups")
    weights = [
        Fields(group["weights"]).number("num_bits", default=0, least=0)
        for group in (groups.values() if isinstance(groups, dict) else ())
        if isinstance(group, dict) and isinstance(group.get("weights"), dict)
    ]
    return max(weights, default=0)
