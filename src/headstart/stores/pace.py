"""How long a tier takes, from what it took."""

_WEIGHT = 0.2
"""Of the newest measurement."""
PROBE_AFTER = 30.0
"""Seconds without a measurement after which a tier that was too slow gets another try."""


class Pace:
    """Seconds per unit (a byte, a call) of a tier, as a moving average.

    Readers may be in other threads; two who learn at once may lose one of the measurements.
    """

    def __init__(self) -> None:
        self._per_unit: float | None = None
        self._measured = float("-inf")

    def seconds(self, size: int) -> float:
        """What `size` units will take; nothing, as long as nothing was measured."""
        return 0.0 if self._per_unit is None else self._per_unit * size

    def took(self, seconds: float, size: int, now: float) -> None:
        """Learn from a call that moved `size` units, or tried to."""
        new = seconds / max(1, size)
        old = self._per_unit
        self._per_unit = new if old is None else old + _WEIGHT * (new - old)
        self._measured = now

    def worthwhile(self, size: int, seconds: float, now: float) -> bool:
        """Whether moving `size` units takes less than `seconds`, or it is time to find out."""
        return self.seconds(size) < seconds or now - self._measured > PROBE_AFTER
