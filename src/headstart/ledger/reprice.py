"""What rows would have cost at other prices. The file isn't changed: it happens beside it."""

import json
import sqlite3

from headstart.ledger.account import Account
from headstart.ledger.encode import writes
from headstart.ledger.money import pico
from headstart.ledger.row import Row
from headstart.ledger.tariff import Tariff

_COLUMNS = (
    "time, tenant, key, model, prompt, read, output, token_seconds, reused, reusable_ever, reason"
)


def reprice(connection: sqlite3.Connection, tariff: Tariff | None) -> None:
    """Make the view `priced`: all requests, at `tariff`'s prices where it has any."""
    money = "paid, plain, rent, writes"
    if tariff is None:
        connection.execute(
            f"CREATE TEMP VIEW priced AS SELECT {_COLUMNS}, {money} FROM main.requests"
        )
        return
    connection.execute("CREATE TEMP TABLE anew (id INTEGER PRIMARY KEY, paid, plain, rent, writes)")
    rows = connection.execute(
        "SELECT id, time, model, contract, prompt, read, output, token_seconds, warms, writes"
        " FROM main.requests"
    )
    connection.executemany(
        "INSERT INTO anew VALUES (?, ?, ?, ?, ?)",
        (priced for row in rows if (priced := _priced(tariff, *row)) is not None),
    )
    columns = ", ".join(
        f"IIF(anew.id IS NULL, requests.{c}, anew.{c}) AS {c}" for c in money.split(", ")
    )
    connection.execute(
        f"CREATE TEMP VIEW priced AS SELECT {_COLUMNS}, {columns}"
        " FROM main.requests LEFT JOIN temp.anew USING (id)"
    )


def _priced(
    tariff: Tariff,
    number: int,
    time: float,
    model: str,
    contract: str,
    prompt: int,
    read: int,
    output: int,
    token_seconds: int,
    warms: int,
    written: str | None,
) -> tuple[int, int, int, int, str | None] | None:
    lifetimes = {} if written is None else json.loads(written)
    tokens = {name: each[0] for name, each in lifetimes.items()}
    account = Account(prompt, read, output, tokens, token_seconds, bool(warms))
    row = Row(time, "", "", "", model, contract, "", account, read)
    bill = tariff.bill(row)
    if bill is None:
        return None
    return number, pico(bill.paid), pico(bill.plain), pico(bill.rent), writes(row, bill)
