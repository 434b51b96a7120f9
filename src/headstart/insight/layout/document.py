"""What `headstart layout` says of one family of requests."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.layout.proof import Cost
from headstart.insight.layout.segment import Segment


@dataclass(frozen=True, slots=True)
class Part:
    """One place of the prompt, in the order given."""

    segment: Segment
    pointer: str
    tokens: int
    """Of a request that has it, on average."""
    requests: int
    values: int
    """Different ones."""
    seen: bool
    """Whether the requests show that it stays so long; else its looks say so."""
    text: str
    """Its first one, as it may be shown."""
    behind: int
    """Tokens that stay longer and stand behind it; 0 where it stands well."""
    to: str
    """Where it should stand; empty where it stands well."""


@dataclass(frozen=True, slots=True)
class Size:
    """One segment, in the suggested order."""

    segment: Segment
    tokens: int
    through: int
    """With all segments before it."""
    aligned: int
    """B ⌊P / B⌋: what a cache of blocks reads of it."""

    @property
    def odd(self) -> int:
        """Tokens behind the last whole block, which are computed each time."""
        return self.through - self.aligned


@dataclass(frozen=True, slots=True)
class Gap:
    """How many gaps between requests a lifetime spans."""

    lifetime: str
    seconds: float
    within: float
    """Share."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A suggested marker."""

    after: str
    """The segment that ends there, or `conversation`."""
    pointer: str
    tokens: int
    lifetime: str


@dataclass(frozen=True, slots=True)
class Laid:
    """One family."""

    vendor: str
    model: str
    requests: int
    sessions: int
    parts: Sequence[Part]
    sizes: Sequence[Size]
    block: int
    given: Cost
    suggested: Cost
    markers: Sequence[Marker]
    gaps: Sequence[Gap]
    advice: Sequence[str]
    imagined: bool
    """Whether there was one request, and the second one that proves it was made up."""
    tool_orders: int = 0
    """In how many orders the same tools come, where one order would cost less."""

    @property
    def misplaced(self) -> Sequence[Part]:
        """Parts out of order."""
        return [part for part in self.parts if part.to]

    @property
    def in_order(self) -> bool:
        """Whether nothing has to move."""
        return not self.misplaced and not self.tool_orders


@dataclass(frozen=True, slots=True)
class Layout:
    """All families, the largest first."""

    counted: str
    """By what tokens are counted: `measured (…)` or `estimated (…)`."""
    families: Sequence[Laid]
