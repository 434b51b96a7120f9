"""A decoder's shape, as far as memory and operations depend on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headstart.insight.plan.ffn import Ffn
from headstart.insight.plan.kv_types import KvType
from headstart.insight.plan.mixers.mixer import Mixer
from headstart.insight.plan.mixers.recurrent import Recurrent


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; Nemotron-H's have a mixer or a feed-forward part, not both."""

    mixer: Mixer | None
    ffn: Ffn | None
    norms: int
    """Parameters of its norms, and of whatever else is neither."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything about a model that a plan needs."""

    name: str
    hidden: int
    vocab: int
    tied: bool
    layers: Sequence[tuple[int, Layer]]
    """(how many, of this kind)."""
    dtype: str
    """Of the weights, as the config names it."""
    plain_bits: float
    """Of a parameter of that type: embedding and head, which no quantisation packs by itself."""
    weight_bits: float
    """Of any other parameter."""
    expert_bits: float
    """Of one parameter of an expert."""
    quantized: str | None
    """The method that the config names."""
    context: int | None
    exact: bool
    """False: an unknown architecture, read as a Llama-like one."""

    @property
    def parameters(self) -> int:
        """All of them; a tied head counts once."""
        return self._embedding + self.hidden + self._sum(_parameters)

    @property
    def matrix(self) -> int:
        """Parameters that every position is multiplied by: no embedding, no head, few experts."""
        return self._sum(_matrix)

    @property
    def active(self) -> int:
        """`matrix` with embedding and head, which is what names like A3B count."""
        return self.matrix + self._embedding

    @property
    def head(self) -> int:
        """FLOPs of the head, which is applied to a prompt's last position only."""
        return 2 * self.vocab * self.hidden

    @property
    def weight_bytes(self) -> int:
        """Parameters times the bits of one."""
        experts = self._sum(lambda layer: 0 if layer.ffn is None else layer.ffn.expert_matrices)
        others = self.parameters - self._embedding - experts
        bits = experts * self.expert_bits + others * self.weight_bits
        return round((bits + self._embedding * self.plain_bits) / 8)

    def kv_bytes(self, kind: KvType, ranks: int = 1) -> int:
        """Bytes that one more position costs once all windows are full, on each rank."""
        return sum(
            count * layer.mixer.kv_bytes(kind, ranks)
            for count, layer in self.layers
            if layer.mixer is not None and layer.mixer.kept(_FAR + 1) > layer.mixer.kept(_FAR)
        )

    def prefix_bytes(self, tokens: int, kind: KvType, ranks: int = 1) -> int:
        """KV and one checkpoint of state of a prefix of `tokens`, on each rank."""
        return sum(
            count
            * (
                layer.mixer.kept(tokens) * layer.mixer.kv_bytes(kind, ranks)
                + layer.mixer.state_bytes(ranks)
            )
            for count, layer in self.layers
            if layer.mixer is not None
        )

    def window_bytes(self, kind: KvType, ranks: int = 1) -> int:
        """Bytes of all windows and chunks when full, on each rank."""
        whole = self.prefix_bytes(_FAR, kind, ranks) - self.state_bytes(ranks)
        return whole - _FAR * self.kv_bytes(kind, ranks)

    def state_bytes(self, ranks: int = 1) -> int:
        """Bytes of one checkpoint of recurrent state, on each rank."""
        return sum(
            count * layer.mixer.state_bytes(ranks)
            for count, layer in self.layers
            if layer.mixer is not None
        )

    def attention(self, begin: int, end: int) -> int:
        """FLOPs of attending from positions `begin` … `end` - 1, causal."""
        return self._mixers(lambda mixer: mixer.attention(begin, end))

    def full_attention(self, tokens: int) -> int:
        """The same from 0 to `tokens` without the mask."""
        return self._mixers(lambda mixer: mixer.full_attention(tokens))

    def resumed(self, tokens: int) -> int:
        """FLOPs that reading `tokens` cached positions costs besides attention."""
        return self._mixers(lambda mixer: mixer.resumed(tokens))

    def touched(self, tokens: int) -> int:
        """Parameters that computing `tokens` positions reads."""
        idle = self._sum(lambda layer: _idle(layer, tokens))
        return self.parameters - idle

    @property
    def recurrent(self) -> bool:
        """Whether some layers keep a state instead of KV."""
        return any(isinstance(layer.mixer, Recurrent) for _, layer in self.layers)

    @property
    def _embedding(self) -> int:
        return self.vocab * self.hidden * (1 if self.tied else 2)

    def _mixers(self, of: Callable[[Mixer], int]) -> int:
        return self._sum(lambda layer: 0 if layer.mixer is None else of(layer.mixer))

    def _sum(self, of: Callable[[Layer], int]) -> int:
        return sum(count * of(layer) for count, layer in self.layers)


_FAR = 1 << 32
"""Beyond every window."""


def _parameters(layer: Layer) -> int:
    mixer = 0 if layer.mixer is None else layer.mixer.parameters
    return mixer + layer.norms + (0 if layer.ffn is None else layer.ffn.parameters)


def _matrix(layer: Layer) -> int:
    mixer = 0 if layer.mixer is None else layer.mixer.matrix
    return mixer + (0 if layer.ffn is None else layer.ffn.matrix)


def _idle(layer: Layer, tokens: int) -> int:
    return 0 if layer.ffn is None else layer.ffn.parameters - layer.ffn.touched(tokens)
