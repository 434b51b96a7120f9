"""Rows on their way to SQLite. Adding one never waits, never fails and never touches the disk."""

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from headstart.ledger.bill import Bill
from headstart.ledger.encode import insert, update
from headstart.ledger.row import Row
from headstart.ledger.schema import LedgerError, check, open_for_writing

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 0.5
"""Rows are gathered for so long; with the commit it is less than the second a crash may cost."""
BATCH = 1024
MOST_WAITING = 16_384


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the rows."""

    kept: int
    waiting: int
    lost: int
    """Not kept: the queue was full or SQLite refused them."""
    failures: int
    """Tries to write a batch that failed; its rows stay in the queue."""


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: Sequence[Row]
    stored: Sequence[Row]
    """Those that take the place of others."""


def unknown(row: Row) -> Bill | None:  # noqa: ARG001
    """The tariff of someone who knows no prices."""
    return None


class Store:
    """One ledger file, written by a thread of its own. Any thread may add rows.

    Where the disk is full or the file locked, rows wait; when too many do, new ones are dropped and
    counted. Serving goes on either way.
    """

    def __init__(
        self,
        path: Path,
        bill: Callable[[Row], Bill | None] = unknown,
        *,
        interval: float = INTERVAL_SECONDS,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        """`bill` prices a row, on the writer's thread. Raises LedgerError for another's file."""
        check(path)
        self._path = path
        self._bill = bill
        self._interval = interval
        self._most_waiting = most_waiting
        self._connection: sqlite3.Connection | None = None
        self._rows: deque[Row] = deque()
        self._stored: dict[tuple[str, float], Row] = {}
        self._changed = threading.Condition()
        self._hurried = False
        self._closed = False
        self._failing = False
        self._kept = self._lost = self._failures = 0
        self._thread = threading.Thread(target=self._run, name="headstart-ledger", daemon=True)
        self._thread.start()

    def add(self, row: Row) -> None:
        """Keep `row`: within a second it is on the disk, or counted as lost."""
        with self._changed:
            if self._closed or len(self._rows) >= self._most_waiting:
                self._lost += 1
                return
            self._rows.append(row)
            if len(self._rows) in (1, BATCH):
                self._changed.notify_all()

    def put(self, rows: Iterable[Row]) -> None:
        """Keep each in the place of the row of its request and time, as far as there is one.

        For what is stored, whose account grows: what waits is replaced too, so it never fills the
        queue, and it is written at once, since the next second brings more of it.
        """
        newest = {(row.request, row.time): row for row in rows}
        with self._changed:
            if self._closed:
                self._lost += len(newest)
            elif newest:
                self._stored.update(newest)
                self._hurried = True
                self._changed.notify_all()

    def flush(self, timeout: float = 1.0) -> bool:
        """Wait until all rows are on the disk. False if it takes more than `timeout` seconds."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._waiting, timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Write what waits and stop. What can't be written in time is lost and counted."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)

    @property
    def counts(self) -> Counts:
        """As of now."""
        with self._changed:
            return Counts(self._kept, self._waiting, self._lost, self._failures)

    @property
    def _waiting(self) -> int:
        return len(self._rows) + len(self._stored)

    def _run(self) -> None:
        while batch := self._next_batch():
            if self._write(batch):
                self._forget(batch)
            elif not self._retry():
                break
        if self._connection is not None:
            self._connection.close()

    def _next_batch(self) -> _Batch | None:
        """Waits for rows, then for more of them; None when the store is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._changed.wait_for(
                lambda: self._hurried or self._closed or len(self._rows) >= BATCH, self._interval
            )
            self._hurried = False
            if not self._waiting:
                return None
            return _Batch(list(islice(self._rows, BATCH)), list(self._stored.values()))

    def _forget(self, batch: _Batch) -> None:
        with self._changed:
            for _ in batch.rows:
                self._rows.popleft()
            for row in batch.stored:
                if self._stored[row.request, row.time] is row:  # Else there is news of it.
                    del self._stored[row.request, row.time]
            self._changed.notify_all()

    def _retry(self) -> bool:
        """Wait before the next try. False when closed: then what waits is lost."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed, self._interval)
            if self._closed:
                self._lost += self._waiting
                self._rows.clear()
                self._stored.clear()
            return not self._closed

    def _write(self, batch: _Batch) -> bool:
        try:
            connection = self._connection = self._connection or open_for_writing(self._path)
            priced = [(row, self._price(row)) for row in batch.rows]
            stored = [(row, self._price(row)) for row in batch.stored]
            connection.execute("BEGIN IMMEDIATE")
            try:
                priced += [(row, bill) for row, bill in stored if not update(connection, row, bill)]
                kept = sum(insert(connection, row, bill) for row, bill in priced)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, OSError, LedgerError) as error:
            self._failed(error)
            return False
        with self._changed:
            self._kept += kept
            self._lost += len(priced) - kept
        if self._failing:
            self._failing = False
            log.info("The ledger at %s takes rows again.", self._path)
        return True

    def _failed(self, error: Exception) -> None:
        with self._changed:
            self._failures += 1
        if not self._failing:
            self._failing = True
            log.warning("The ledger at %s takes no rows, serving goes on: %s", self._path, error)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _price(self, row: Row) -> Bill | None:
        try:
            return self._bill(row)
        except Exception:
            log.exception("A request could not be priced.")
            return None
