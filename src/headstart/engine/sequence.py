"""One choice of one request on its way through the engine."""

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headstart.cache import Chain, Lease, Miss, Reason
from headstart.engine.api import Reuse
from headstart.stores.load import Load


@dataclass(slots=True, eq=False)
class Group:
    """What the choices of one request share: its account."""

    prompt_tokens: int
    cached_tokens: int | None = None
    """Fewest tokens reused by an admission before the first token came; None before any."""
    miss: Miss | None = None
    """Why it wasn't more, at that admission."""
    loaded: Mapping[str, int] = field(default_factory=dict)
    """Of `cached_tokens`, those that came from a tier, by its name."""
    reuse: Reuse | None = None
    """Fixed when the first token of any choice is there."""

    def admit(self, sequence: "Sequence", miss: Miss) -> None:
        """One of the choices begins; what the least lucky one reused counts.

        `miss`: why it doesn't reuse more.
        """
        hit = min(sequence.computed, self.prompt_tokens - 1)
        if self.reuse is None and (self.cached_tokens is None or hit < self.cached_tokens):
            if hit == self.prompt_tokens - 1:
                miss = Miss(Reason.CAPPED, hit)
            if sequence.came_short and miss.reason is not Reason.CAPPED:
                miss = replace(miss, reason=Reason.TIER_DOWN, at=hit)
            self.cached_tokens, self.miss = hit, miss
            self.loaded = dict(sequence.loaded)


@dataclass(slots=True, eq=False)
class Sequence:
    """Tokens so far and how much of their KV is there.

    Between steps `computed` is at most `len(tokens) - 1`: the newest token is always still to be
    run, whether it ends the prompt or was sampled last.
    """

    group: Group
    tokens: "array[int]"
    chain: Chain
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
    load: Load | None = None
    """Chunks on their way up from the tiers."""
    load_generation: int = 0
    """The cache's, when they were asked for."""
    loaded: Counter[str] = field(default_factory=Counter)
    """Tokens by the tier they came from."""
    came_short: bool = False
    """A tier had promised more than it gave in time."""
    sent: dict[str, int] = field(default_factory=dict)
    """By tier: leading chunks that were sent down, or needn't be."""
    looks_again: bool = False
    """It was preempted: what the pool lacks of it now may be in the tiers."""
    waited_from: float | None = None
    """Since when it waits, without progress, for another to compute its prefix."""
    waited_for: int = -1

    def __post_init__(self) -> None:
        self.prompt_tokens = len(self.tokens)

    @property
    def generated(self) -> int:
        """Tokens sampled so far."""
        return len(self.tokens) - self.prompt_tokens
