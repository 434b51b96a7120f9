"""How much KV there is room for."""

from dataclasses import dataclass

from headstart.insight.plan.ask import Ask


@dataclass(frozen=True, slots=True)
class Room:
    """On each GPU, but for `tokens` and `copies`, which are of all together."""

    pool: int
    """Bytes for KV; negative where the weights alone don't fit."""
    copy: int
    """Bytes of one reusable prefix."""

    @property
    def copies(self) -> int:
        """Prefixes that fit whole."""
        return max(0, self.pool) // self.copy if self.copy else 0


def room(ask: Ask) -> Room:
    """From the server's pool if there is one, else what the GPU has left."""
    machine, model = ask.machine, ask.model
    copy = model.shape.prefix_bytes(ask.prompt.reusable, model.kv, machine.ranks)
    if ask.served is not None:
        return Room(ask.served.kv_bytes, copy)
    return Room(machine.memory - machine.reserve - -(-model.weight_bytes // machine.ranks), copy)


def pool_tokens(ask: Ask) -> int:
    """Positions that the pool holds, windows and states left out."""
    if ask.served is not None:
        return ask.served.capacity_tokens
    per_token = ask.model.shape.kv_bytes(ask.model.kv, ask.machine.ranks)
    return max(0, room(ask).pool) // per_token if per_token else 0
