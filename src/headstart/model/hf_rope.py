"""RopeConfig from `config.json`: both the old form (`rope_theta`, `rope_scaling`) and the new one.

The new form (`rope_parameters`) came with transformers 5 and holds theta and scaling together.
"""

from collections.abc import Mapping
from typing import Any

from headstart.model.config import RopeConfig
from headstart.model.errors import ModelError

_DEFAULT_THETA = 10_000.0


def parse_rope(config: Mapping[str, Any], max_positions: int) -> tuple[RopeConfig, int]:
    """The embedding, and the context it serves: under YaRN the stretched one, where that is longer.

    `max_positions` is the config's `max_position_embeddings`. Raises ModelError for a scaling that
    is unknown or lacks a number.
    """
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = float(scaling.get("rope_theta") or config.get("rope_theta") or _DEFAULT_THETA)
    partial = scaling.get("partial_rotary_factor") or config.get("partial_rotary_factor") or 1.0
    if partial != 1.0:
        raise ModelError(f"partial_rotary_factor = {partial} is not supported.")

    def number(field: str, default: float | None = None) -> float:
        value = scaling.get(field)
        value = default if value is None else value
        if not isinstance(value, int | float) or value <= 0:
            raise ModelError(f"rope scaling needs a positive {field}, not {value!r}.")
        return float(value)

    def optional(field: str) -> float | None:
        return None if scaling.get(field) is None else number(field)

    match scaling.get("rope_type") or scaling.get("type") or "default":
        case "default":
            return RopeConfig(theta), max_positions
        case "linear":
            return RopeConfig(theta, "linear", factor=number("factor")), max_positions
        case "llama3":
            rope = RopeConfig(
                theta,
                "llama3",
                factor=number("factor"),
                low_freq_factor=number("low_freq_factor"),
                high_freq_factor=number("high_freq_factor"),
                original_max_positions=_original(config, scaling, max_positions),
            )
            return rope, max_positions
        case "yarn":
            original = _original(config, scaling, max_positions)
            rope = RopeConfig(
                theta,
                "yarn",
                factor=number("factor", max_positions / original),
                original_max_positions=original,
                beta_fast=number("beta_fast", 32.0),
                beta_slow=number("beta_slow", 1.0),
                attention_factor=optional("attention_factor"),
                mscale=optional("mscale"),
                mscale_all_dim=optional("mscale_all_dim"),
                truncate=bool(scaling.get("truncate", True)),
            )
            return rope, max(max_positions, int(original * rope.factor))
        case unknown:
            raise ModelError(
                f"rope scaling {unknown!r} is not supported, only default, linear, llama3 and yarn."
            )


def _original(config: Mapping[str, Any], scaling: Mapping[str, Any], max_positions: int) -> int:
    """The context length of pre-training, which the scaling stretches."""
    for place in (config, scaling):
        value = place.get("original_max_position_embeddings")
        if isinstance(value, int) and value > 0:
            return value
    return max_positions
