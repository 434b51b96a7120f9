"""Clocks for what was recorded without one."""

import random
from collections.abc import Iterable, Iterator
from math import exp, log


class Assumed:
    """Times of requests: the recorded one, else a second after the request before."""

    def __init__(self) -> None:
        self._now = 0.0
        self.missing = 0
        """Requests without one."""

    def at(self, recorded: float | None) -> float:
        """Seconds, of the next request."""
        if recorded is None:
            self.missing += 1
            recorded = self._now + 1.0
        self._now = recorded
        return recorded


def drawn_begins(conversations: Iterable[str], *, span_s: float, seed: int) -> dict[str, float]:
    """When each conversation begins: uniform over `span_s` seconds."""
    draw = random.Random(seed)
    return {name: draw.uniform(0, span_s) for name in sorted(set(conversations))}


def drawn_times(
    sessions: Iterable[str],
    span_s: float,
    *,
    seed: int,
    medians_s: tuple[float, ...] = (6.0, 10.0),
    sigma: float = 0.6,
) -> Iterator[float]:
    """A time for each call, given whose it is; the calls of a session come in their order.

    A gap is a sum of lognormal waits: for the model, and for a tool.
    """
    draw = random.Random(seed)
    clock: dict[str, float] = {}
    for session in sessions:
        if session in clock:
            clock[session] += sum(exp(draw.gauss(log(median), sigma)) for median in medians_s)
        else:
            clock[session] = draw.uniform(0, span_s)
        yield clock[session]
