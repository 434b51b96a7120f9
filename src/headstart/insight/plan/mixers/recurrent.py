"""Layers that keep a state of fixed size instead of keys and values.

Where the state isn't kept, it can't be had again without computing all from the begin: a prefix is
reusable at checkpoints only.
"""

from dataclasses import dataclass

from headstart.insight.plan.kv_types import KvType

STATE_BYTES = 4
"""Of one element of a recurrent state: float32, as engines keep it unless told otherwise."""
CONV_BYTES = 2
"""Of one element of a short convolution's window."""


@dataclass(frozen=True, slots=True)
class Recurrent:
    """A layer with a state instead of KV: Mamba-2 or a gated delta rule."""

    matrix: int
    parameters: int
    state: int
    """Elements of the recurrent state."""
    conv: int
    """Elements of the short convolution's window."""
    steps: int
    """Passes over the state for each position: decay and update, read (and recall: delta rule)."""

    def kv_bytes(self, kind: KvType, ranks: int = 1) -> int:  # noqa: ARG002
        """None."""
        return 0

    def kept(self, tokens: int) -> int:  # noqa: ARG002
        """None."""
        return 0

    def state_bytes(self, ranks: int = 1) -> int:
        """Heads are spread over the ranks."""
        return -(-(self.state * STATE_BYTES + self.conv * CONV_BYTES) // ranks)

    def attention(self, begin: int, end: int) -> int:
        """In line with the positions: two operations per element and pass."""
        return 2 * self.steps * self.state * (end - begin)

    def full_attention(self, tokens: int) -> int:
        """The same: there is no mask."""
        return self.attention(0, tokens)

    def resumed(self, tokens: int) -> int:  # noqa: ARG002
        """Nothing: a checkpoint is read as it is."""
        return 0


def gated_delta(
    *, hidden: int, key_heads: int, key_dim: int, value_heads: int, value_dim: int, kernel: int
) -> Recurrent:
    """Qwen3.5's linear attention."""
    keys, values = key_heads * key_dim, value_heads * value_dim
    channels = 2 * keys + values
    matrix = hidden * (channels + values + 2 * value_heads) + values * hidden
    return Recurrent(
        matrix=matrix,
        parameters=matrix + channels * kernel + 2 * value_heads + value_dim,
        state=value_heads * key_dim * value_dim,
        conv=channels * (kernel - 1),
        steps=3,
    )


def mamba2(
    *, hidden: int, heads: int, head_dim: int, groups: int, state: int, kernel: int
) -> Recurrent:
    """Nemotron-H's state space layer."""
    inner = heads * head_dim
    channels = inner + 2 * groups * state
    matrix = hidden * (inner + channels + heads) + inner * hidden
    return Recurrent(
        matrix=matrix,
        parameters=matrix + channels * (kernel + 1) + 3 * heads + inner,
        state=heads * head_dim * state,
        conv=channels * (kernel - 1),
        steps=2,
    )
