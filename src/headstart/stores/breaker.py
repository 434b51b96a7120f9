"""When to stop asking a store that fails or is slow, and when to ask it again. Pure: no clock."""

from collections import deque
from enum import StrEnum
from typing import NewType

Permit = NewType("Permit", int)
"""Leave to make one call, given back with its outcome."""

FAILURES_IN_A_ROW = 5
WINDOW = 20
"""Calls over which a store that fails every other time is found out."""
FIRST_PAUSE = 10.0
LONGEST_PAUSE = 300.0


class State(StrEnum):
    """What the breaker lets through."""

    CLOSED = "closed"
    """Everything."""
    OPEN = "open"
    """Nothing, until the pause is over."""
    HALF_OPEN = "half_open"
    """One call, whose outcome decides."""


class Breaker:
    """Opens after five failures in a row, or when half of the last twenty calls failed.

    Then it lets one call through after 10 s, and after each that fails waits twice as long, up to
    300 s. A probe that never reports is given up after another pause. Not safe for threads.
    """

    def __init__(self) -> None:
        self.state = State.CLOSED
        self._era = 0
        """Permits of an earlier era say nothing about this one."""
        self._recent: deque[bool] = deque(maxlen=WINDOW)
        self._in_a_row = 0
        self._pause = FIRST_PAUSE
        self._next_probe = 0.0

    def admit(self, now: float) -> Permit | None:
        """Leave to make a call, or None."""
        if self.state is not State.CLOSED:
            if now < self._next_probe:
                return None
            self._enter(State.HALF_OPEN)
            self._next_probe = now + self._pause
        return Permit(self._era)

    def succeeded(self, permit: Permit) -> None:
        """The call did what was asked, in time."""
        if permit != self._era:
            return
        if self.state is State.HALF_OPEN:
            self._enter(State.CLOSED)
            self._pause = FIRST_PAUSE
        self._in_a_row = 0
        self._recent.append(True)

    def failed(self, permit: Permit, now: float) -> None:
        """The call failed or was late."""
        if permit != self._era:
            return
        if self.state is State.HALF_OPEN:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._open(now)
            return
        self._in_a_row += 1
        self._recent.append(False)
        half_failed = len(self._recent) == WINDOW and 2 * self._recent.count(False) >= WINDOW
        if self._in_a_row >= FAILURES_IN_A_ROW or half_failed:
            self._open(now)

    def _open(self, now: float) -> None:
        self._enter(State.OPEN)
        self._next_probe = now + self._pause

    def _enter(self, state: State) -> None:
        self.state = state
        self._era += 1
        self._in_a_row = 0
        self._recent.clear()
