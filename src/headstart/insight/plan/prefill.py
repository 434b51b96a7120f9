"""The work of computing the part of a prompt that isn't reused."""

from dataclasses import dataclass

from headstart.insight.plan.kv_types import KvType
from headstart.insight.plan.machine import Bound, Machine
from headstart.insight.plan.shape import Shape


@dataclass(frozen=True, slots=True)
class Model:
    """A shape as it is served: with the bytes its weights take and the form of its KV."""

    shape: Shape
    weight_bytes: int
    kv: KvType


@dataclass(frozen=True, slots=True)
class Prefill:
    """Computing positions `begin` … `end` - 1 of a prompt."""

    linear: int
    """FLOPs in the layers' matrices."""
    attention: int
    """FLOPs of attention under its mask, or of recurrences."""
    other: int
    """FLOPs of the head, once, and of expanding cached latents."""
    rank_bytes: float
    """Bytes that each GPU reads: the weights once, and the KV of what is reused."""
    seconds: float
    bound: Bound

    @property
    def flops(self) -> int:
        """All of them."""
        return self.linear + self.attention + self.other


def prefill(model: Model, machine: Machine, begin: int, end: int) -> Prefill:
    """max(FLOPs / F, (weights + KV of `begin` tokens) / bandwidth).

    Experts are read as far as so many tokens touch them, if they spread evenly. Ranks share the
    work without loss, so this is a lower bound.
    """
    shape, new = model.shape, end - begin
    linear = 2 * shape.matrix * new
    attention = shape.attention(begin, end)
    other = shape.head + shape.resumed(begin)
    weights = model.weight_bytes * shape.touched(new) / shape.parameters
    read = weights / machine.ranks + shape.prefix_bytes(begin, model.kv, machine.ranks)
    flops = linear + attention + other
    return Prefill(
        linear,
        attention,
        other,
        read,
        machine.seconds(flops, read),
        machine.bound(flops, read),
    )


def weights_bound_tokens(model: Model, machine: Machine) -> float:
    """New tokens below which reading the weights takes longer than computing with them."""
    reading = model.weight_bytes / machine.ranks / machine.bandwidth
    return reading * machine.flops * machine.ranks / (2 * model.shape.matrix)
