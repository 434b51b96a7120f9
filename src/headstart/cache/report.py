"""Why a prompt reused no more than it did."""

from dataclasses import dataclass
from enum import StrEnum

from headstart.cache.ghosts import Ghost

WINDOW = 32
"""Tokens kept of a cached prefix from where a prompt left it."""


class Reason(StrEnum):
    """The closed list. A report names the first that applies, in the order of the code below."""

    CAPPED = "capped"
    """All but the last token: that one is always computed."""
    OTHER_NAMESPACE = "other_namespace"
    """The same tokens are there under another salt, adapter, ... of this tenant."""
    EVICTED = "evicted"
    EXPIRED = "expired"
    DIVERGED = "diverged"
    """What is cached behind the common prefix begins with other tokens."""
    BLOCK_FLOOR = "block_floor"
    """Hits are cut to whole units, and what lies behind the last one of the prompt is none."""
    NEVER_SEEN = "never_seen"
    """Nothing was ever cached behind the common prefix, as far as is remembered."""
    BELOW_MINIMUM = "below_minimum"
    """A contract reports hits only from some length on."""
    TIER_DOWN = "tier_down"
    """It was in a tier that could not be read in time."""


@dataclass(frozen=True, slots=True)
class Miss:
    """What stood between a prompt and reusing all of it."""

    reason: Reason
    at: int
    """Tokens in common with what is cached: the index of the first that differs or is new."""
    cached_ahead: tuple[int, ...] = ()
    """What the nearest cached prefix has from there on, at most WINDOW tokens."""
    ghost: Ghost | None = None
    lost_for: float = 0.0
    """Seconds since the ghost went."""
    lost_tokens: int = 0
    """How many tokens from there on were cached once (evicted, expired)."""
    fields: tuple[str, ...] = ()
    """Which parts of the namespace differ (other_namespace)."""
