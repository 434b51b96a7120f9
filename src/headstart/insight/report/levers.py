"""Causes with what mending them would save, the largest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.causes import Cause

MOST = 4096
"""Different levers; further ones are counted as one of no prefix."""


@dataclass(slots=True)
class Lever:
    """One cause in one model's requests that begin alike."""

    cause: Cause | None
    model: str
    prefix: str
    requests: int = 0
    tokens: int = 0
    """That would have been read."""
    saved: Decimal = Decimal(0)
    priced: int = 0
    """Requests whose price is known."""
    first: Origin | None = None

    def plus(self, other: "Lever") -> "Lever":
        """Both together; of the same cause, model and prefix."""
        return replace(
            self,
            requests=self.requests + other.requests,
            tokens=self.tokens + other.tokens,
            saved=self.saved + other.saved,
            priced=self.priced + other.priced,
        )

    @property
    def money(self) -> Decimal | None:
        """Dollars, of the requests whose price is known; None if there are none."""
        return self.saved if self.priced else None


class Levers:
    """Hears losses, request by request."""

    def __init__(self) -> None:
        self._levers: dict[tuple[Cause | None, str, str], Lever] = {}

    def add(
        self, asked: Asked, prefix: str, cause: Cause | None, tokens: int, saved: Decimal | None
    ) -> None:
        """One request lost so many tokens to `cause`."""
        key = cause, asked.model, prefix
        if key not in self._levers and len(self._levers) >= MOST:
            key = cause, asked.model, ""
        lever = self._levers.setdefault(key, Lever(*key, first=asked.origin))
        lever.requests += 1
        lever.tokens += tokens
        if saved is not None:
            lever.saved += saved
            lever.priced += 1

    def add_sum(self, lever: Lever) -> None:
        """What a ledger knows."""
        self._levers[lever.cause, lever.model, lever.prefix] = lever

    def ranked(self) -> Sequence[Lever]:
        """By money, then by tokens."""
        return sorted(
            self._levers.values(),
            key=lambda each: (
                -(each.money or 0),
                -each.tokens,
                each.cause or "",
                each.model,
                each.prefix,
            ),
        )
