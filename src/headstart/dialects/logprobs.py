"""The log probability of a token, as dialects render it."""

from collections.abc import Sequence
from typing import Protocol


class TokenLogprob(Protocol):
    """One token: its exact bytes, its log probability, and the likeliest ones in its place."""

    @property
    def data(self) -> bytes:
        """Exact bytes; half a character is possible."""
        ...

    @property
    def logprob(self) -> float:
        """Natural logarithm; minus infinity for what can't happen."""
        ...

    @property
    def top(self) -> Sequence["TokenLogprob"]:
        """Likeliest first; empty in themselves."""
        ...
