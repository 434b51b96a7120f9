"""Rows and bills as SQLite holds them."""

import json
import sqlite3
from decimal import Decimal

from headstart.ledger.bill import Bill
from headstart.ledger.money import pico
from headstart.ledger.row import Row

INSERT = """
INSERT INTO requests (
    time, request, tenant, key, model, contract, dialect, prompt, read, written, writes, output,
    token_seconds, warms, reused, reusable_ever, paid, plain, rent, ttft, reason
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

UPDATE = """
UPDATE requests SET token_seconds = ?, paid = ?, plain = ?, rent = ?
WHERE request = ? AND time = ? AND token_seconds > 0
"""


def writes(row: Row, bill: Bill | None) -> str | None:
    """What was written, by lifetime: tokens, and the reads that pay them back."""
    written = {name: tokens for name, tokens in row.account.written.items() if tokens}
    if not written:
        return None
    due = {} if bill is None else bill.break_even
    return json.dumps({name: [tokens, _float(due.get(name))] for name, tokens in written.items()})


def insert(connection: sqlite3.Connection, row: Row, bill: Bill | None) -> bool:
    """Add `row`. False if SQLite will never take it; raises sqlite3.Error if it can't now."""
    account = row.account
    values = (
        row.time,
        _text(row.request),
        _text(row.tenant),
        _text(row.key),
        _text(row.model),
        row.contract,
        row.dialect,
        account.prompt,
        account.read,
        sum(account.written.values()),
        writes(row, bill),
        account.output,
        account.token_seconds,
        account.warms,
        row.reused,
        row.reusable_ever,
        *_money(bill),
        row.ttft,
        _text(row.reason),
    )
    try:
        connection.execute(INSERT, values)
    except (sqlite3.IntegrityError, OverflowError):
        return False
    return True


def update(connection: sqlite3.Connection, row: Row, bill: Bill | None) -> bool:
    """Let the storage of `row` and its price stand in its own row. False if there is none."""
    values = (row.account.token_seconds, *_money(bill), _text(row.request), row.time)
    return connection.execute(UPDATE, values).rowcount > 0


def _money(bill: Bill | None) -> tuple[int | None, int | None, int | None]:
    if bill is None:
        return None, None, None
    return pico(bill.paid), pico(bill.plain), pico(bill.rent)


def _text(text: str) -> str:
    """Without the lone surrogates that JSON may carry and SQLite can't."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
