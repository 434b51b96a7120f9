"""One run of `headstart ledger`: read, priced, printed."""

import sys
import time
from pathlib import Path
from typing import Literal

from headstart.insight.ledger.table import show
from headstart.ledger import (
    By,
    LedgerError,
    PriceBook,
    PriceError,
    PriceFile,
    Report,
    Rules,
    Tariff,
    as_csv,
    as_json,
    default_path,
    report,
)
from headstart.ledger import since as parse_since

FAILED = 2
"""Exit status where there is nothing to sum up."""


def main(
    db: Path | None,
    by: By | None,
    since: str | None,
    prices: Path | None,
    form: Literal["text", "json", "csv"],
) -> int:
    """Print what `db` (None: this user's own) holds; the exit status."""
    try:
        path = db or default_path()
        found = _read(path, by, since, prices)
    except (LedgerError, PriceError, ValueError) as error:
        print(error, file=sys.stderr)
        return FAILED
    if form == "json":
        print(as_json(found))
    elif form == "csv":
        print(as_csv(found), end="")
    else:
        show(found, path)
    return 0


def _read(path: Path, by: By | None, since: str | None, prices: Path | None) -> Report:
    start = None if since is None else parse_since(since, time.time())
    tariff = None
    if prices is not None:
        tariff = Tariff(Rules.packaged(), PriceBook([PriceFile.read(prices)]))
    return report(path, by, since=start, tariff=tariff)
