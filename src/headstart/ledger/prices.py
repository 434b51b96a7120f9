"""Which source speaks for a model: the operator's file, the registry or the snapshot."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Self

from headstart.ledger.price import Price, Prices, PriceSource
from headstart.ledger.price_file import PriceFile
from headstart.ledger.registry import Registry

MOST_MODELS = 4096
"""Names come from clients: beyond so many they are looked up again."""


class Snapshot:
    """The prices in the package, read when first asked."""

    def find(self, vendor: str, model: str) -> Prices | None:
        """As `PriceFile.find`."""
        return self._file.find(vendor, model)

    @cached_property
    def _file(self) -> PriceFile:
        return PriceFile.packaged()


class PriceBook:
    """The prices of all models. Each model is looked up once; of several sources the first knows.

    The first question may import the registry: ask where nobody waits. Any thread may ask.
    """

    def __init__(self, sources: Sequence[PriceSource]) -> None:
        self._sources = sources
        self._known: dict[tuple[str, str], Prices | None] = {}

    @classmethod
    def standard(cls, file: Path | None = None) -> Self:
        """`file` above genai-prices above the snapshot. Raises PriceError for a bad file."""
        own: list[PriceSource] = [] if file is None else [PriceFile.read(file)]
        return cls([*own, Registry(), Snapshot()])

    def find(self, vendor: str, model: str) -> Prices | None:
        """All prices of `model`, and their source; None where it is unknown."""
        key = vendor, model
        try:
            return self._known[key]
        except KeyError:
            found = (source.find(vendor, model) for source in self._sources)
            known = next((prices for prices in found if prices is not None), None)
            if len(self._known) >= MOST_MODELS:
                self._known.clear()
            self._known[key] = known
            return known

    def at(self, vendor: str, model: str, moment: datetime) -> Price | None:
        """The price of requests that begin at `moment`; None where it is unknown."""
        prices = self.find(vendor, model)
        return None if prices is None else prices.at(moment)
