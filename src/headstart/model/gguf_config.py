"""ModelConfig from a GGUF file's metadata (key names: the GGUF specification and llama.cpp)."""

from collections.abc import Mapping
from typing import Any

from headstart.model.config import Family, ModelConfig, RopeConfig
from headstart.model.errors import ModelError
from headstart.model.gguf_file import GgufFile
from headstart.model.gguf_source import ROPE_DIVISORS
from headstart.model.gguf_tensors import GgufTensors

FAMILIES: Mapping[str, Family] = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""`general.architecture` → family. Mistral's files call themselves llama."""

_UNSUPPORTED = (
    "expert_count",
    "attention.scale",
    "logit_scale",
    "residual_scale",
    "embedding_scale",
)
"""Fields that change the computation wherever they are neither absent nor 0."""

_END_IDS = ("eos_token_id", "eot_token_id", "eom_token_id")


def gguf_config(file: GgufFile) -> ModelConfig:
    """Raises ModelError, with the field's name, for whatever this decoder would compute wrongly."""
    try:
        return _parse(file)
    except ModelError as error:
        raise ModelError(f"{file.path}: {error}") from None


def _parse(file: GgufFile) -> ModelConfig:
    architecture = str(file.metadata.get("general.architecture"))
    if architecture not in FAMILIES:
        raise ModelError(
            f"general.architecture = {architecture} is not supported. Supported: "
            f"{', '.join(FAMILIES)}."
        )
    fields = _Fields(file.metadata, architecture)
    for name in _UNSUPPORTED:
        if fields.get(name):
            raise ModelError(f"{architecture}.{name} = {fields.get(name)} is not supported.")
    hidden, heads = fields.size("embedding_length"), fields.size("attention.head_count")
    head_dim = fields.size("attention.key_length", hidden // heads)
    for name in ("attention.value_length", "rope.dimension_count"):
        if fields.size(name, head_dim) != head_dim:
            raise ModelError(
                f"{architecture}.{name} = {fields.get(name)} differs from the head size of "
                f"{head_dim}, which is not supported."
            )
    context = fields.size("context_length")
    window = fields.get("attention.sliding_window")
    if window and window < context:
        raise ModelError(
            f"{architecture}.attention.sliding_window = {window} is below the context of {context} "
            "tokens; attention in a sliding window is not supported, and leaving it out would give "
            "wrong answers."
        )
    if "token_embd.weight" not in file.tensors:
        raise ModelError("the file lacks tensor token_embd.weight. Is it complete?")
    ends = (file.metadata.get(f"tokenizer.ggml.{name}") for name in _END_IDS)
    return ModelConfig(
        family=FAMILIES[architecture],
        vocab_size=file.tensors["token_embd.weight"].shape[0],
        hidden_size=hidden,
        layers=fields.size("block_count"),
        query_heads=heads,
        kv_heads=fields.size("attention.head_count_kv", heads),
        head_dim=head_dim,
        ffn_size=fields.size("feed_forward_length"),
        context_length=context,
        norm_eps=fields.number("attention.layer_norm_rms_epsilon"),
        rope=_rope(file, fields, context),
        tied_head="output.weight" not in file.tensors,
        qkv_bias=architecture == "qwen2",
        qk_norm=architecture == "qwen3",
        eos_ids=tuple(dict.fromkeys(end for end in ends if end is not None)),
        bos_id=file.metadata.get("tokenizer.ggml.bos_token_id"),
    )


def _rope(file: GgufFile, fields: "_Fields", context: int) -> RopeConfig:
    theta = fields.number("rope.freq_base", 10_000.0)
    if ROPE_DIVISORS in file.tensors:
        divisors = GgufTensors(file).read(ROPE_DIVISORS)
        return RopeConfig(theta, "divisors", divisors=tuple(divisors.tolist()))
    match fields.get("rope.scaling.type", "none"):
        case "none":
            # The name this field had before there were several types.
            factor = fields.number("rope.scale_linear", 1.0)
            return RopeConfig(theta) if factor == 1.0 else RopeConfig(theta, "linear", factor)
        case "linear":
            return RopeConfig(theta, "linear", fields.number("rope.scaling.factor"))
        case "yarn":
            return RopeConfig(
                theta,
                "yarn",
                fields.number("rope.scaling.factor"),
                original_max_positions=fields.size("rope.scaling.original_context_length", context),
                beta_fast=fields.number("rope.scaling.yarn_beta_fast", 32.0),
                beta_slow=fields.number("rope.scaling.yarn_beta_slow", 1.0),
            )
        case unknown:
            raise ModelError(f"rope.scaling.type = {unknown!r} is not supported.")


class _Fields:
    """The fields below the architecture's name."""

    def __init__(self, metadata: Mapping[str, Any], architecture: str) -> None:
        self._metadata = metadata
        self._prefix = architecture

    def get(self, name: str, default: Any = None) -> Any:
        return self._metadata.get(f"{self._prefix}.{name}", default)

    def size(self, name: str, default: int | None = None) -> int:
        """A positive whole number. A list, one number per layer, must repeat one number."""
        value = self.get(name, default)
        if isinstance(value, list) and len(set(value)) == 1:
            value = value[0]
        if not isinstance(value, int) or value < 1:
            raise ModelError(f"{self._prefix}.{name} must be a positive number, not {value!r}.")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self.get(name, default)
        if not isinstance(value, int | float) or value <= 0:
            raise ModelError(f"{self._prefix}.{name} must be a positive number, not {value!r}.")
        return float(value)
