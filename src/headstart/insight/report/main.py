"""Reports for a person or a program: the report on stdout, troubles on stderr."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from headstart.insight.asked.count import counter_of
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.scrape import is_scrape, read_scrape
from headstart.insight.asked.source import STDIN, read_requests
from headstart.insight.report.compose import compose
from headstart.insight.report.document import ABSTAINED, IMPOSSIBLE, Document
from headstart.insight.report.hearing import Hearing
from headstart.insight.report.material import Material, Source
from headstart.insight.report.pricing import Pricing
from headstart.insight.report.render import as_csv, as_json
from headstart.insight.report.tally import By
from headstart.insight.report.text import as_text
from headstart.insight.shown import plain, redacted
from headstart.ledger import LedgerError, PriceBook, PriceError, PriceFile, Rules, Tariff

TOOL = "headstart report"
SQLITE = b"SQLite format 3\0"
Form = Literal["text", "json", "csv"]


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for."""

    places: Sequence[str]
    by: By = "model"
    target: float | None = None
    prices: Path | None = None
    redact: bool = False
    model: str | None = None
    provider: str = "auto"
    tokenizer: Path | None = None
    as_of: date | None = None


def main(given: Given, *, form: Form = "text") -> int:
    """The exit status."""
    try:
        document, troubles = report(given, today=datetime.now(UTC).date())
    except (PriceError, Unreadable) as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return IMPOSSIBLE
    for trouble in troubles:
        print(f"{TOOL}: {trouble}", file=sys.stderr)
    if document.abstained:
        if troubles:
            return IMPOSSIBLE
        print(f"{TOOL}: no usage, and nothing to estimate it from", file=sys.stderr)
        return ABSTAINED
    print({"text": as_text, "json": as_json, "csv": as_csv}[form](document), end="")
    return IMPOSSIBLE if troubles else document.status


def report(given: Given, *, today: date) -> tuple[Document, Sequence[str]]:
    """A report, and what couldn't be read. `today`: whose prices hold where nothing tells a day.

    Raises PriceError and Unreadable for what was given besides the places.
    """
    count = counter_of(given.tokenizer)
    pricing = Pricing(Rules.packaged(), given.prices, given.as_of, today)
    hearing = Hearing(pricing, count, given.by, redacted if given.redact else plain)
    material = Material(hearing, pricing, given.by, given.target)
    troubles = _read(given, material)
    return compose(material, count), troubles


def _read(given: Given, material: Material) -> list[str]:
    """Everything; what couldn't be read, a line each."""
    troubles: list[str] = []
    requests: list[str] = []
    for place in given.places:
        head = b"" if place == STDIN else _head(Path(place))
        try:
            if head.startswith(SQLITE):
                material.add_ledger(Path(place), _tariff(given))
            elif is_scrape(head):
                material.scrapes.append(read_scrape(Path(place)))
                material.sources.append(Source(place, "scrape", None))
            else:
                requests.append(place)
        except (LedgerError, Unreadable) as error:
            troubles.append(str(error))
    provider = "" if given.provider == "auto" else given.provider
    signs = Signs(provider, model=given.model or "")
    sources: dict[str, Source] = {}
    heard = read_requests(requests, signs, lambda _, error: troubles.append(str(error)))
    for asked in heard:
        source = sources.setdefault(asked.origin.file, Source(asked.origin.file, "requests", 0))
        sources[asked.origin.file] = replace(source, requests=(source.requests or 0) + 1)
        material.hearing.hear(asked)
    material.sources += sources.values()
    return troubles


def _head(path: Path) -> bytes:
    """The first bytes; none of what is no file or can't be read, which is told in its turn."""
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _tariff(given: Given) -> Tariff | None:
    """A ledger's rows keep what they cost, but for the models that the user's file names."""
    if given.prices is None:
        return None
    return Tariff(Rules.packaged(), PriceBook([PriceFile.read(given.prices)]))
