"""Time that passes when somebody sleeps."""

from dataclasses import dataclass

BEGIN = 1_796_000_000.0
"""2026-11-30."""


@dataclass
class Clock:
    """Seconds since the epoch."""

    now: float = BEGIN

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
