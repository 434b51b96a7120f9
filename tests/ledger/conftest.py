"""Rows and ledgers for the tests of this room."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headstart.ledger import Account, Bill, Row
from headstart.ledger.encode import insert
from headstart.ledger.schema import open_for_writing

MakeRow = Callable[..., Row]
Write = Callable[[Iterable[tuple[Row, Bill | None]]], Path]


@pytest.fixture
def row() -> MakeRow:
    """`row(account=Account(10, 0), **fields) -> Row`, with a value for every other field."""

    def make(account: Account | None = None, **fields: Any) -> Row:
        account = account or Account(10, 0)
        given = {
            "time": 1_000_000.0,
            "request": "r",
            "tenant": "t",
            "key": "k",
            "model": "m",
            "contract": "anthropic",
            "dialect": "messages",
            "account": account,
            "reused": account.read,
        }
        return Row(**{**given, **fields})

    return make


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows and their bills to a ledger, at once."""

    def store(rows: Iterable[tuple[Row, Bill | None]]) -> Path:
        path = tmp_path / "ledger.db"
        with closing(open_for_writing(path)) as connection:
            connection.execute("BEGIN")
            for row, bill in rows:
                assert insert(connection, row, bill)
            connection.execute("COMMIT")
        return path

    return store
