"""Under which names the model is served, and whose cache contract goes with each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headstart.contracts.contract import Contract
from headstart.contracts.entries import Entries
from headstart.contracts.registry import build
from headstart.ledger import Profile, Rules
from headstart.settings import VENDORS


@dataclass(frozen=True, slots=True)
class Terms:
    """What a request for one model is held to."""

    profile: Profile
    """The vendor's numbers for the model."""
    contract: Contract
    entries: Entries
    """What the contract believes to be cached."""

    @property
    def name(self) -> str:
        """The contract's."""
        return self.profile.contract


class AllTerms:
    """The terms of every name."""

    def __init__(self, model: str, aliases: Sequence[tuple[str, str]], rules: Rules) -> None:
        """`model`: the server's own name for it. `aliases`: (vendor, name) pairs."""
        self._own = {vendor: _terms(rules.profile(vendor, model)) for vendor in VENDORS}
        """Of the server's own name, by the vendor whose dialect asks."""
        self._aliases = {name: _terms(rules.profile(vendor, name)) for vendor, name in aliases}

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


def _terms(profile: Profile) -> Terms:
    return Terms(profile, build(profile.contract, **profile.numbers), Entries())
