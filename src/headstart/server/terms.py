"""Under which names the model is served, and whose cache contract goes with each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headstart.contracts.contract import Contract
from headstart.contracts.engine import Engine
from headstart.contracts.entries import Entries
from headstart.settings import VENDORS


@dataclass(frozen=True, slots=True)
class Terms:
    """What a request for one model is held to."""

    name: str
    """The contract's."""
    contract: Contract
    entries: Entries
    """What the contract believes to be cached."""


class AllTerms:
    """The terms of every name."""

    def __init__(self, aliases: Sequence[tuple[str, str]]) -> None:
        """`aliases`: (vendor, name) pairs."""
        self._own = {vendor: Terms("engine", Engine(), Entries()) for vendor in VENDORS}
        """Of the server's own model, by the vendor whose dialect asks."""
        self._aliases = {name: self._own[vendor] for vendor, name in aliases}

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names besides the model's own."""
        return tuple(self._aliases)

    def of(self, model: str, vendor: str) -> Terms:
        """The terms of `model`, asked for in a dialect of `vendor`."""
        return self._aliases.get(model) or self._own[vendor]

    def reset(self) -> None:
        """The cache is empty now."""
        for terms in self._all():
            terms.entries.clear()

    def _all(self) -> Iterable[Terms]:
        return (*self._own.values(), *self._aliases.values())
