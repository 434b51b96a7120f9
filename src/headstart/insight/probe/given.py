"""The command's options, and what follows from them."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from headstart.insight import http
from headstart.insight.probe.prompts import CLOCK
from headstart.insight.wire import EndpointError
from headstart.ledger import Rules

PREFIX, SAMPLES, MAX_WAIT = 3000, 5, 600.0
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
    samples: int | None = None
    prefix: int | None = None
    text: str | None = None
    """The user's own prefix."""
    output: int | None = None
    pause: float | None = None
    retention: bool = False
    max_wait: float | None = None
    """Seconds."""
    budget_tokens: int = 1_000_000
    budget_dollars: Decimal | None = None
    over_budget: bool = False
    price: str | None = None
    prices: Path | None = None

    def refuse_idle(self) -> None:
        """Raises EndpointError for an option that would do nothing."""
        idle = (
            ("--samples", self.samples, self.retention, "with"),
            ("--other-key", self.other_key, self.retention, "with"),
            ("--max-wait", self.max_wait, not self.retention, "without"),
        )
        for option, value, does_nothing, how in idle:
            if value is not None and does_nothing:
                raise EndpointError(f"{option} says nothing {how} --retention.")

    @property
    def sample_count(self) -> int:
        """Of the self-test."""
        return SAMPLES if self.samples is None else self.samples

    @property
    def longest_wait(self) -> float:
        """Of --retention, in seconds."""
        return MAX_WAIT if self.max_wait is None else self.max_wait

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
