"""The seam that every rewrite fills."""

from typing import Protocol

from headstart.insight.causes import Cause
from headstart.insight.fix.draft import Draft


class Rewrite(Protocol):
    """One change, made to each request that it fits."""

    @property
    def name(self) -> str:
        """What it does, in a few words: `tools sorted by name`."""
        ...

    @property
    def causes(self) -> frozenset[Cause]:
        """What it does away with."""
        ...

    def begin(self) -> None:
        """A recording begins: what was remembered of requests is forgotten."""
        ...

    def apply(self, draft: Draft) -> bool:
        """Edits the body; whether it did."""
        ...
