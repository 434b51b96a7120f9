"""Where accounts go: the ledger and the counters, which agree to the token, and the log."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from headstart.ledger import PriceBook, Row, Rules, Store, Tariff
from headstart.server.line_log import LineLog
from headstart.server.logged import BEGIN, Logged
from headstart.server.metrics import Metrics
from headstart.settings import Settings


@contextmanager
def open_store(settings: Settings) -> Iterator[Store | None]:
    """The ledger's store, if one is kept. Raises LedgerError and PriceError."""
    if settings.ledger is None:
        yield None
        return
    prices = None if settings.prices is None else Path(settings.prices)
    tariff = Tariff(Rules.packaged(), PriceBook.standard(prices))
    # Price lists take a moment to read; nobody waits for them but rows on their way to the disk.
    Thread(target=tariff.load, name="headstart-prices", daemon=True).start()
    store = Store(Path(settings.ledger), tariff.bill)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_log(settings: Settings) -> Iterator[LineLog | None]:
    """The request log, if there is to be one. Raises LogError."""
    if settings.request_log is None:
        yield None
        return
    log = LineLog(Path(settings.request_log), BEGIN)
    try:
        yield log
    finally:
        log.close()


class Books:
    """Takes every request's account, once."""

    def __init__(self, store: Store | None, metrics: Metrics, log: LineLog | None = None) -> None:
        self.store = store
        self.log = log
        self._metrics = metrics

    def add(self, row: Row) -> None:
        """Count it, and have it written down."""
        account = row.account
        kinds = {
            "fresh": account.fresh,
            "read": account.read,
            **{f"written_{lifetime}": tokens for lifetime, tokens in account.written.items()},
            "output": account.output,
        }
        for kind, tokens in kinds.items():
            self._metrics.account_tokens.labels(row.model, row.contract, kind).inc(tokens)
        if self.store is not None:
            self.store.add(row)

    def add_storage(self, rows: Sequence[tuple[Row, int]]) -> None:
        """Count what each adds to its account, in token-seconds, and have the account written down.

        It takes the place of what was written of it before.
        """
        for row, added in rows:
            self._metrics.account_token_seconds.labels(row.model, row.contract).inc(added)
        if self.store is not None:
            self.store.put(row for row, _ in rows)

    def log_prompt(self, logged: Logged) -> None:
        """Have it written down, where requests are logged."""
        if self.log is not None:
            self.log.add(logged.line, logged.size)
