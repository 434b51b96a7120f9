"""How much is run before a function is given up: no source may hold the linter up."""

MAX_BODIES = 200
"""Runs of functions that one function may cause; beyond it nothing is known of results."""
MAX_STATEMENTS = 50_000
"""That one function may run, with all that it calls; a large library took 6,137 at most."""


class TooLong(Exception):
    """More was run than one function may."""


class Budget:
    """Of what is run on its own: a function, or a module."""

    def __init__(self) -> None:
        self._bodies = 0
        self._statements = 0

    def begin(self) -> None:
        """What comes now is run on its own."""
        self._bodies = self._statements = 0

    def body(self) -> bool:
        """Whether one more function may be run."""
        self._bodies += 1
        return self._bodies <= MAX_BODIES

    def spend(self, statements: int) -> None:
        """Raises TooLong."""
        self._statements += statements
        if self._statements > MAX_STATEMENTS:
            raise TooLong
