"""LoRA adapters in PEFT's format: `adapter_config.json` beside `adapter_model.safetensors`."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headstart.model.config import ModelConfig
from headstart.model.errors import ModelError
from headstart.model.inventory import Projection, projection_shapes
from headstart.model.lora_config import LoraConfig, read_lora_config


@dataclass(frozen=True, slots=True)
class LowRank:
    """A low-rank change of a linear layer: `y += (x @ a.T) @ b.T`. The scale is in `b` already."""

    a: Tensor
    """[r, in]"""
    b: Tensor
    """[out, r]"""


@dataclass(frozen=True, slots=True)
class AdapterLayer:
    """What an adapter changes in one decoder layer; None is unchanged."""

    q: LowRank | None = None
    k: LowRank | None = None
    v: LowRank | None = None
    o: LowRank | None = None
    gate: LowRank | None = None
    up: LowRank | None = None
    down: LowRank | None = None


@dataclass(frozen=True, slots=True)
class Adapter:
    """A loaded adapter. `digest`: 32 bytes over its content, whatever its name (design law 3)."""

    name: str
    digest: bytes
    layers: tuple[AdapterLayer, ...]


_TENSOR = re.compile(
    r"base_model\.model\.model\.layers\.(?P<layer>\d+)\."
    r"(?:self_attn\.(?P<attention>[qkvo])|mlp\.(?P<mlp>gate|up|down))_proj\."
    r"lora_(?P<side>[AB])\.weight"
)


def load_adapter(
    name: str, path: Path, config: ModelConfig, dtype: torch.dtype, device: torch.device
) -> Adapter:
    """Load the adapter in directory `path` for a model of shape `config`.

    Raises ModelError for more than plain LoRA, a tensor that fits nowhere, a wrong shape.
    """
    file = path / "adapter_model.safetensors"
    try:
        lora = read_lora_config(path / "adapter_config.json")
        tensors = _read(file, config, lora)
    except ModelError as error:
        raise ModelError(f"adapter {name}: {error}") from None
    layers = [dict[Projection, LowRank]() for _ in range(config.layers)]
    for (layer, slot, side), a in tensors.items():
        if side == "A":
            b = tensors[layer, slot, "B"].float() * lora.scale
            layers[layer][slot] = LowRank(
                a.to(dtype=dtype, device=device), b.to(dtype=dtype, device=device)
            )
    digest = hashlib.blake2b(f"lora scale={lora.scale!r}\n".encode(), digest_size=32)
    digest.update(file.read_bytes())
    return Adapter(name, digest.digest(), tuple(AdapterLayer(**slots) for slots in layers))


_Key = tuple[int, Projection, str]
"""Layer, slot, "A" or "B"."""


def _read(file: Path, config: ModelConfig, lora: LoraConfig) -> Mapping[_Key, Tensor]:
    """Every tensor of the file, with its shape checked and its other half present."""
    if not file.is_file():
        raise ModelError(f"{file} does not exist. Save the adapter as safetensors.")
    tensors: dict[_Key, Tensor] = {}
    try:
        with safe_open(file, framework="pt") as source:
            for name in source.keys():  # noqa: SIM118 (not a mapping)
                key = _parse(name, config)
                tensors[key] = source.get_tensor(name)
                _check_shape(name, tensors[key], key, config, lora)
    except SafetensorError as error:
        raise ModelError(f"{file} is cut short or no safetensors file: {error}") from None
    for layer, slot, side in tensors:
        other = "B" if side == "A" else "A"
        if (layer, slot, other) not in tensors:
            raise ModelError(f"layer {layer} has lora_{side} of {slot}_proj, but no lora_{other}.")
    return tensors


def _parse(name: str, config: ModelConfig) -> _Key:
    match = _TENSOR.fullmatch(name)
    if match is None or int(match["layer"]) >= config.layers:
        raise ModelError(
            f"tensor {name} fits nowhere: an adapter may change the q, k, v, o, gate, up and down "
            f"projections of this model's {config.layers} layers."
        )
    slot = cast(Projection, match["attention"] or match["mlp"])
    return int(match["layer"]), slot, match["side"]


def _check_shape(
    name: str, tensor: Tensor, key: _Key, config: ModelConfig, lora: LoraConfig
) -> None:
    _, slot, side = key
    rows, columns = projection_shapes(config)[slot]
    expected = (lora.rank, columns) if side == "A" else (rows, lora.rank)
    if tensor.shape != expected:
        raise ModelError(
            f"tensor {name} has shape {list(tensor.shape)}, but this model and r = {lora.rank} "
            f"need {list(expected)}: the adapter was trained for another model."
        )
