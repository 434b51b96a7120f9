"""What becomes findable and what ceases to be, for whoever keeps a picture of this cache."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.cache.keys import BlockKey, Namespace


@dataclass(frozen=True, slots=True)
class Stored:
    """Full blocks that follow one another became findable."""

    namespace: Namespace
    parent: BlockKey | None
    """The block before the first one; None where a prompt begins."""
    keys: Sequence[BlockKey]
    tokens: bytes
    """Of all of them, packed."""
    gate: bool = False
    """The block before is another namespace's: the prefix that tenants share ends there."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Blocks are no longer findable."""

    keys: Sequence[BlockKey]


@dataclass(frozen=True, slots=True)
class Cleared:
    """Nothing is findable."""


Event = Stored | Removed | Cleared
