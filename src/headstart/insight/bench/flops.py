"""How much less work a hit is: the ratio in tokens, and the truer one in floating point operations.

A hit still attends to the whole prefix, so (P+Q)/Q promises more than any engine can keep.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of a Llama-like decoder (SwiGLU, grouped queries) that cost operations."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int

    @property
    def linear(self) -> int:
        """Operations per token in the layers' matrices; the head runs once a prompt, left out."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return 2 * self.layers * (attention + 3 * self.hidden * self.intermediate)

    @property
    def attention(self) -> int:
        """Operations per pair of a query and a key it sees: a product for score and value each."""
        return 2 * 2 * self.layers * self.heads * self.head_dim


SHAPES = {"smollm2-135m": Shape(30, 576, 9, 3, 64, 1536)}
"""By a part of the model's name, lower case."""


def shape_of(model: str) -> Shape | None:
    """The shape of a model we know by name; None leaves the column empty."""
    return next((shape for name, shape in SHAPES.items() if name in model.lower()), None)


def token_ratio(shared: int, new: int) -> float:
    """Tokens computed on a miss over those on a hit."""
    return (shared + new) / new


def flop_ratio(shape: Shape, shared: int, new: int) -> float:
    """Operations of a causal prefill of all tokens over those of the new ones after the shared."""
    total = shared + new
    miss = shape.linear * total + shape.attention * total * (total + 1) / 2
    hit = shape.linear * new + shape.attention * (new * shared + new * (new + 1) / 2)
    return miss / hit
