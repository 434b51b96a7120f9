"""One choice of one request on its way through the engine."""

from array import array
from dataclasses import dataclass, field

from headstart.cache import KeyChain, Lease
from headstart.engine.api import Reuse


@dataclass(slots=True, eq=False)
class Group:
    """What the choices of one request share: its account."""

    prompt_tokens: int
    cached_tokens: int | None = None
    """Fewest tokens reused by an admission before the first token came; None before any."""
    reuse: Reuse | None = None
    """Fixed when the first token of any choice is there."""


@dataclass(slots=True, eq=False)
class Sequence:
    """Tokens so far and how much of their KV is there.

    Between steps `computed` is at most `len(tokens) - 1`: the newest token is always still to be
    run, whether it ends the prompt or was sampled last.
    """

    group: Group
    tokens: "array[int]"
    chain: KeyChain
    arrival: int
    """Serial number: lower came first. A preempted sequence keeps it."""
    max_tokens: int
    prompt_tokens: int = field(init=False)
    computed: int = 0
    lease: Lease | None = None
    in_step: bool = False
    """A forward pass is writing its KV now: its blocks must not be given away."""
    cancelled: bool = False
    reached: int = 0
    """Most tokens it had KV of before it was preempted: up to there it computes again."""
    waited_from: float | None = None
    """Since when it waits, without progress, for another to compute its prefix."""
    waited_for: int = -1

    def __post_init__(self) -> None:
        self.prompt_tokens = len(self.tokens)

    @property
    def generated(self) -> int:
        """Tokens sampled so far."""
        return len(self.tokens) - self.prompt_tokens
