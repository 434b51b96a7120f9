"""What an adapter's `adapter_config.json` says, and which of PEFT's features are refused."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.model.errors import ModelError

_PLAIN: Mapping[str, tuple[Any, ...]] = {
    "peft_type": ("LORA",),
    "bias": ("none", None),
    "modules_to_save": (None, []),
    "use_dora": (False, None),
    "fan_in_fan_out": (False, None),
    "lora_bias": (False, None),
    "rank_pattern": ({}, None),
    "alpha_pattern": ({}, None),
    "layer_replication": (None, []),
    "trainable_token_indices": (None, [], {}),
    "target_parameters": (None, []),
    "alora_invocation_tokens": (None, []),
    "use_qalora": (False, None),
    "use_bdlora": (None, False),
    "arrow_config": (None,),
    "kasa_config": (None,),
    "monteclora_config": (None,),
}
"""Fields and the values that plain LoRA allows; the first one stands for an absent field."""

_CHANGES_BASE = ("pissa", "olora", "corda", "loftq", "lora_ga")
"""Initialisations that rewrite the base weights too: the adapter's tensors alone mean nothing."""


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """A plain LoRA adapter's rank, and the factor its product is scaled by."""

    rank: int
    scale: float


def read_lora_config(file: Path) -> LoraConfig:
    """Raises ModelError for what isn't there, isn't JSON, or isn't plain LoRA."""
    try:
        settings = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise ModelError(f"{file} does not exist. Give a directory in PEFT's format.") from None
    except ValueError as error:
        raise ModelError(f"{file} is not JSON: {error}") from None
    if not isinstance(settings, dict):
        raise ModelError(f"{file} is not a JSON object.")
    for field, plain in _PLAIN.items():
        if settings.get(field, plain[0]) not in plain:
            raise ModelError(
                f"{file}: {field} = {json.dumps(settings[field])} is not supported, only plain "
                "LoRA. Merge the adapter into its model and serve that."
            )
    start = settings.get("init_lora_weights")
    if isinstance(start, str) and start.startswith(_CHANGES_BASE):
        raise ModelError(
            f"{file}: init_lora_weights = {json.dumps(start)} changed the base model too. Convert "
            "the adapter with PEFT's path_initial_model_for_weight_conversion."
        )
    rank, alpha = settings.get("r"), settings.get("lora_alpha")
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, int | float):
        raise ModelError(f"{file}: r and lora_alpha must be numbers, r at least 1.")
    # Rank-stabilised LoRA (arXiv 2312.03732) divides by the root of the rank.
    return LoraConfig(rank, alpha / (math.sqrt(rank) if settings.get("use_rslora") else rank))
