"""The ledger's file: SQLite with a mark that it is ours and the version of its form."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from platformdirs import user_state_path

APPLICATION = 0x48534C47
"""`HSLG` in the file's header: a ledger of headstart."""
VERSION = 1
BUSY_SECONDS = 1.0
"""How long to wait for another writer."""

TABLES = """
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    request TEXT NOT NULL,
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    contract TEXT NOT NULL,
    dialect TEXT NOT NULL,
    prompt INTEGER NOT NULL,
    read INTEGER NOT NULL CHECK (read >= 0),
    written INTEGER NOT NULL CHECK (written >= 0 AND read + written <= prompt),
    writes TEXT,
    output INTEGER NOT NULL CHECK (output >= 0),
    token_seconds INTEGER NOT NULL CHECK (token_seconds >= 0),
    warms INTEGER NOT NULL,
    reused INTEGER NOT NULL,
    reusable_ever INTEGER,
    paid INTEGER,
    plain INTEGER,
    rent INTEGER,
    ttft REAL,
    reason TEXT NOT NULL
);
CREATE INDEX requests_by_time ON requests (time);
"""
"""Money is in pico-dollars, NULL where a price is unknown. `writes` is JSON: by lifetime, the
tokens and after how many reads they are paid back, null where that is unknown or never."""

INDEX = """
CREATE INDEX IF NOT EXISTS storage ON requests (request, time) WHERE token_seconds > 0
"""
"""Finds the rows that are updated while something is stored. A ledger may be older than it."""


class LedgerError(Exception):
    """No ledger of this version, or none that can be read. `str()` is one line for people."""


def default_path() -> Path:
    """Where the ledger of this user lies unless told otherwise."""
    return user_state_path("headstart") / "ledger.db"


def check(path: Path) -> None:
    """Refuse a path that holds something else. A missing or empty file is fine.

    So is one that is locked or can't be opened: what is in it can't be told. Raises LedgerError.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise LedgerError(f"{path} is no file.")
    with suppress(sqlite3.OperationalError), closing(_connect(path, "ro")) as connection:
        _is_new(connection, path)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The file, made if need be, readable by its owner alone.

    Transactions are the caller's. A commit is on the disk when it returns. Raises LedgerError,
    OSError and sqlite3.Error.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = _connect(path, "rw")
    try:
        if _is_new(connection, path):
            _create(connection, path)
        connection.execute(INDEX)
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A ledger that is there. Raises LedgerError."""
    if not path.is_file():
        raise LedgerError(f"There is no ledger at {path}.")
    try:
        connection = _connect(path, "ro")
        try:
            if not _is_new(connection, path):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
    except sqlite3.Error as error:
        raise LedgerError(f"{path} cannot be read: {error}.") from error
    raise LedgerError(f"The ledger at {path} is empty.")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether nothing is in the file yet. Raises LedgerError for what isn't ours.

    In one statement: another process may be making the ledger just now.
    """
    try:
        application, version, tables = connection.execute(
            """
            SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT COUNT(*) FROM sqlite_master)
            """
        ).fetchone()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise LedgerError(f"{path} is no ledger of headstart: {error}.") from error
    if not (application or version or tables):
        return True
    if application != APPLICATION:
        raise LedgerError(f"{path} is no ledger of headstart but another program's database.")
    if version != VERSION:
        raise LedgerError(
            f"{path} is a ledger of version {version}; this headstart needs {VERSION}."
            " Move it away to begin a new one."
        )
    return False


def _create(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_new(connection, path):  # Else another server was faster.
            for statement in TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
