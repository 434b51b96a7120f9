"""From a checkpoint's tensors to the decoder's weights, one tensor at a time."""

from collections.abc import Sequence, Set

import torch
from torch import Tensor

from headstart.model import inventory as names
from headstart.model.config import ModelConfig
from headstart.model.errors import ModelError
from headstart.model.inventory import Projection, in_layer, inventory, projection
from headstart.model.sources import TensorSource
from headstart.model.weights import LayerWeights, Weights


def assemble(
    source: TensorSource, config: ModelConfig, dtype: torch.dtype, device: torch.device
) -> Weights:
    """Copy every tensor to its place. Beside the result only one tensor is in memory at a time.

    Raises ModelError for a tensor that is missing, unknown or of another shape than `config` says.
    """
    shapes = inventory(config)
    _compare(source, shapes.keys(), config)

    def read(*parts: str) -> Tensor:
        """The tensors below each other in one new tensor."""
        rows = [shapes[part][0] for part in parts]
        whole = torch.empty((sum(rows), *shapes[parts[0]][1:]), dtype=dtype, device=device)
        for part, place in zip(parts, torch.split(whole, rows), strict=True):
            tensor = source.read(part)
            if tensor.shape != place.shape:
                raise ModelError(
                    f"tensor {part} has shape {list(tensor.shape)}, but the config asks for "
                    f"{list(place.shape)}: weights and config are of different models."
                )
            place.copy_(tensor)
        return whole

    def layer(number: int) -> LayerWeights:
        def norm(name: str) -> Tensor:
            return read(in_layer(number, name))

        def linear(*parts: Projection) -> Tensor:
            return read(*(in_layer(number, projection(part)) for part in parts))

        def bias(*parts: Projection) -> Tensor:
            return read(*(in_layer(number, projection(part, "bias")) for part in parts))

        return LayerWeights(
            attn_norm=norm(names.ATTN_NORM),
            qkv=linear("q", "k", "v"),
            qkv_bias=bias("q", "k", "v") if config.qkv_bias else None,
            q_norm=norm(names.Q_NORM) if config.qk_norm else None,
            k_norm=norm(names.K_NORM) if config.qk_norm else None,
            out=linear("o"),
            mlp_norm=norm(names.MLP_NORM),
            gate_up=linear("gate", "up"),
            down=linear("down"),
        )

    embed = read(names.EMBED)
    return Weights(
        embed=embed,
        layers=tuple(layer(number) for number in range(config.layers)),
        norm=read(names.NORM),
        head=embed if config.tied_head else read(names.HEAD),
    )


def _compare(source: TensorSource, expected: Set[str], config: ModelConfig) -> None:
    there = source.names()
    if missing := [name for name in expected if name not in there]:
        raise ModelError(f"the checkpoint lacks {_list(missing)}. Is it complete?")
    unknown = sorted(name for name in there - expected if not _is_redundant(name, config))
    if unknown:
        raise ModelError(
            f"the checkpoint has {_list(unknown)}, which no {config.family} model has: serving it "
            "without would give wrong answers."
        )


def _is_redundant(name: str, config: ModelConfig) -> bool:
    """Copies of what is known already: old rotary buffers, the head of a tied model."""
    return name.endswith(".rotary_emb.inv_freq") or (config.tied_head and name == names.HEAD)


def _list(tensors: Sequence[str]) -> str:
    more = f" and {len(tensors) - 3} more" if len(tensors) > 3 else ""
    return f"tensor {', '.join(tensors[:3])}{more}"
