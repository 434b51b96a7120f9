"""The command's options, and what follows from them."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from headstart.insight import http
from headstart.insight.probe.prompts import CLOCK
from headstart.ledger import Rules

PREFIX = 3000
ABOVE_MINIMUM = 1.1
"""Times the vendor's minimum, where that is above PREFIX: words are only about a token."""
BYTES_PER_TOKEN = 4
"""Of a text of the user's, until the endpoint tells."""
REMOTE_PAUSE = 1.0
"""Seconds that a vendor's cache gets to write, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Given:
    """As the command line says it; None is not given."""

    url: str
    seed: int
    model: str | None = None
    dialect: str | None = None
    api_key: str | None = None
    other_key: str | None = None
    """Another tenant's."""
    samples: int = 5
    prefix: int | None = None
    text: str | None = None
    """The user's own prefix."""
    output: int | None = None
    pause: float | None = None
    retention: bool = False
    max_wait: float = 600.0
    budget_tokens: int = 1_000_000
    budget_dollars: Decimal | None = None
    over_budget: bool = False
    price: str | None = None
    prices: Path | None = None

    @property
    def own_clock(self) -> bool:
        """Whether the user's prefix has a clock."""
        return self.text is not None and CLOCK in self.text

    @property
    def pause_seconds(self) -> float:
        """Before each request."""
        if self.pause is not None:
            return self.pause
        return REMOTE_PAUSE if http.is_remote(self.url) else 0.0

    def prefix_tokens(self, vendor: str, model: str) -> int:
        """As given, about as long as the user's text, or enough for the vendor to cache it."""
        if self.text is not None:
            return len(self.text.encode()) // BYTES_PER_TOKEN
        if self.prefix is not None:
            return self.prefix
        least = Rules.packaged().profile(vendor, model).minimum
        return max(PREFIX, round(least * ABOVE_MINIMUM))
