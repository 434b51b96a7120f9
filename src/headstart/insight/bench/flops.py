"""How much less work a hit is: the ratio in tokens, and the truer one in floating point operations.

A hit still attends to the whole prefix, so (P+Q)/Q promises more than any engine can keep.
"""

from headstart.insight.plan.catalogue import find
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.shape import Shape
from headstart.insight.plan.simple import speedup


def shape_of(model: str) -> Shape | None:
    """The shape of a model of the planner's catalogue; None leaves the column empty."""
    try:
        return find(model).shape
    except PlanError:
        return None


def token_ratio(shared: int, new: int) -> float:
    """Tokens computed on a miss over those on a hit."""
    return speedup(shared, new)


def flop_ratio(shape: Shape, shared: int, new: int) -> float:
    """Operations of a causal prefill of all tokens over those of the new ones after the shared.

    The head, which runs once a prompt, is left out.
    """
    total = shared + new
    miss = 2 * shape.matrix * total + shape.attention(0, total)
    hit = 2 * shape.matrix * new + shape.attention(shared, total) + shape.resumed(shared)
    return miss / hit
