"""What one sequence holds."""

from dataclasses import dataclass
from typing import NamedTuple

from headstart.cache.keys import Chain
from headstart.cache.node import Node
from headstart.cache.pool import BlockId
from headstart.cache.report import Miss


class Announcement(NamedTuple):
    """The block that a lease fills next: the first tokens behind a node, packed."""

    node: Node
    first: bytes


class BlockCopy(NamedTuple):
    """The first `tokens` positions of `source`, to be copied into `target`."""

    source: BlockId
    target: BlockId
    tokens: int


@dataclass(slots=True, eq=False)
class Lease:
    """The blocks one sequence holds. Owned by the cache: read it, change it through the cache."""

    chain: Chain
    blocks: list[BlockId]
    cached_tokens: int
    """Reused at acquisition: the length of the prefix that need not be computed."""
    node: Node
    """Where its findable prefix ends: `node.end` leading blocks are shared."""
    generation: int
    miss: Miss
    """Why it could not reuse more."""
    announced_tokens: int
    """Up to where others may wait for it."""
    tail: Node | None = None
    """Its partly filled last block, while that is findable."""
    announcement: Announcement | None = None
    live: bool = True

    @property
    def shared(self) -> int:
        """Leading blocks that are findable, unless there was a reset since."""
        return self.node.end
