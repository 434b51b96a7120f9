"""Tensors of a GGUF file in Hugging Face's names and row order."""

from collections.abc import Mapping, Set

from torch import Tensor

from headstart.model import inventory as names
from headstart.model.config import ModelConfig
from headstart.model.gguf_file import GgufFile
from headstart.model.gguf_tensors import GgufTensors
from headstart.model.inventory import Projection, in_layer, projection

ROPE_DIVISORS = "rope_freqs.weight"
"""Part of the rope config, not of the weights."""

_PROJECTIONS: Mapping[Projection, str] = {
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "o": "attn_output",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
_NORMS = {
    names.ATTN_NORM: "attn_norm",
    names.MLP_NORM: "ffn_norm",
    names.Q_NORM: "attn_q_norm",
    names.K_NORM: "attn_k_norm",
}


class GgufSource:
    """A TensorSource over a GGUF file; the file is mapped as long as this object lives."""

    def __init__(self, file: GgufFile, config: ModelConfig) -> None:
        self._tensors = GgufTensors(file)
        known = _stored_names(config)
        self._stored = {name: place for name, place in known.items() if place in file.tensors}
        # A tensor nothing here knows keeps its own name, so that it is refused by that name.
        unknown = file.tensors.keys() - set(known.values()) - {ROPE_DIVISORS}
        self._stored |= {name: name for name in unknown}
        # llama.cpp rotates neighbouring dimensions, so llama files have permuted q and k rows.
        self._heads: dict[str, int] = {}
        if file.metadata["general.architecture"] == "llama":
            for number in range(config.layers):
                self._heads[in_layer(number, projection("q"))] = config.query_heads
                self._heads[in_layer(number, projection("k"))] = config.kv_heads

    def names(self) -> Set[str]:
        """Every tensor; those without a counterpart under their GGUF names."""
        return self._stored.keys()

    def read(self, name: str) -> Tensor:
        """A copy in fp32, whatever the file's storage type."""
        weights = self._tensors.read(self._stored[name])
        heads = self._heads.get(name)
        if heads is None or len(weights) % (2 * heads):
            return weights
        pairs = weights.reshape(heads, len(weights) // heads // 2, 2, *weights.shape[1:])
        return pairs.transpose(1, 2).reshape(weights.shape)


def _stored_names(config: ModelConfig) -> Mapping[str, str]:
    """Hugging Face's name → GGUF's."""
    stored = {
        names.EMBED: "token_embd.weight",
        names.NORM: "output_norm.weight",
        names.HEAD: "output.weight",
    }
    for number in range(config.layers):
        for part, place in _PROJECTIONS.items():
            stored[in_layer(number, projection(part))] = f"blk.{number}.{place}.weight"
            stored[in_layer(number, projection(part, "bias"))] = f"blk.{number}.{place}.bias"
        for norm, place in _NORMS.items():
            stored[in_layer(number, norm)] = f"blk.{number}.{place}.weight"
    return stored
