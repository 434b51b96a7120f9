"""Sums over the ledger: tokens, their hit rate, money. All of it is added up by SQL."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

from headstart.ledger.money import dollars
from headstart.ledger.reprice import reprice
from headstart.ledger.schema import LedgerError, open_for_reading
from headstart.ledger.tariff import Tariff

By = Literal["model", "tenant", "key", "hour", "reason"]
BYS: Sequence[By] = get_args(By)

_KEYS: Mapping[By | None, str] = {
    None: "''",
    "model": "model",
    "tenant": "tenant",
    "key": "priced.key",
    "hour": "strftime('%Y-%m-%dT%H:00Z', time, 'unixepoch')",
    "reason": "reason",
}

_MICRO = 1_000_000
"""Money is added up as micro-dollars and the rest below, so that 64 bits hold any sum."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written with one lifetime."""

    tokens: int
    break_even: float | None
    """How often such a token must be read until it is paid back; None if unknown or never."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sums over requests that have `name` in common."""

    name: str
    requests: int
    """Those that had a prompt; a row for storage alone is none."""
    prompt: int
    read: int
    written: Mapping[str, Written]
    """By lifetime."""
    output: int
    token_seconds: int
    reused: int
    reusable_ever: int
    ceiling_prompt: int
    """Prompt tokens of the requests that know `reusable_ever`."""
    priced: int
    """Requests whose price is known; money is of these alone, and of storage of a known price."""
    paid: Decimal | None
    """Dollars; None if no request has a known price."""
    plain: Decimal | None
    """What the same tokens cost without a cache."""
    rent: Decimal | None
    """The part of `paid` that is storage; None also where the price of any storage is unknown."""

    @property
    def partial(self) -> bool:
        """Whether there is more to pay than `paid`, nobody knows how much."""
        return self.priced < self.requests or (self.token_seconds > 0 and self.rent is None)

    @property
    def fresh(self) -> int:
        """Prompt tokens computed at the plain price."""
        return self.prompt - self.read - sum(each.tokens for each in self.written.values())

    @property
    def hit_rate(self) -> float | None:
        """Read of all prompt tokens; never a mean of requests' rates. None without tokens."""
        return self.read / self.prompt if self.prompt else None

    @property
    def ceiling(self) -> float | None:
        """What an infinite cache would have read, of the prompt tokens of requests that know it.

        That is the longest prefix that any earlier request of the same tenant and model had too.
        """
        return self.reusable_ever / self.ceiling_prompt if self.ceiling_prompt else None

    @property
    def saved(self) -> Decimal | None:
        """Dollars; negative where writes and rent cost more than reads saved."""
        return None if self.paid is None or self.plain is None else self.plain - self.paid


@dataclass(frozen=True, slots=True)
class Report:
    """Groups in the order of their names, and all of them together."""

    by: By | None
    since: float | None
    """Unix seconds, the first that counts."""
    until: float | None
    """Unix seconds, the first that counts no more."""
    groups: Sequence[Group]
    total: Group


def report(
    path: Path,
    by: By | None = None,
    *,
    since: float | None = None,
    until: float | None = None,
    tenant: str | None = None,
    tariff: Tariff | None = None,
) -> Report:
    """Sum up the ledger at `path`, of `tenant` or of all. Raises LedgerError.

    `tariff`: prices rows anew where it can; the others keep what they cost when they were written.
    """
    try:
        with closing(open_for_reading(path)) as connection:
            connection.execute("BEGIN")
            reprice(connection, tariff)
            where, values = _where(since, until, tenant)
            groups = [] if by is None else _groups(connection, by, where, values)
            total = _groups(connection, None, where, values)
    except sqlite3.Error as error:
        raise LedgerError(f"{path} cannot be read: {error}.") from error
    return Report(by, since, until, groups, total[0] if total else _NOTHING)


def _where(
    since: float | None, until: float | None, tenant: str | None
) -> tuple[str, dict[str, float | str]]:
    conditions = {
        "time >= :since": ("since", since),
        "time < :until": ("until", until),
        "tenant = :tenant": ("tenant", tenant),
    }
    wanted = {
        text: (name, value) for text, (name, value) in conditions.items() if value is not None
    }
    values = {name: value for name, value in wanted.values() if value is not None}
    return " AND ".join(["TRUE", *wanted]), values


def _groups(
    connection: sqlite3.Connection, by: By | None, where: str, values: Mapping[str, float | str]
) -> list[Group]:
    key = _KEYS[by]
    grouping = "" if by is None else "GROUP BY name ORDER BY name"  # Which sorts; all needn't.
    money = ", ".join(
        f"SUM({name} / {_MICRO}), SUM({name} % {_MICRO})" for name in ("paid", "plain", "rent")
    )
    rows = connection.execute(
        f"""
        SELECT {key} AS name, SUM(prompt > 0), SUM(prompt), SUM(read), SUM(output),
            SUM(token_seconds), SUM(reused), COALESCE(SUM(reusable_ever), 0),
            SUM(IIF(reusable_ever IS NULL, 0, prompt)), SUM(prompt > 0 AND paid IS NOT NULL),
            {money}, SUM(token_seconds > 0 AND rent IS NULL), COUNT(*)
        FROM priced WHERE {where} {grouping}
        """,
        values,
    ).fetchall()
    written = _written(connection, key, where, values)
    return [_group(row, written.get(row[0], {})) for row in rows if row[-1]]


def _written(
    connection: sqlite3.Connection, key: str, where: str, values: Mapping[str, float | str]
) -> dict[str, dict[str, Written]]:
    rows = connection.execute(
        f"""
        SELECT name, lifetime, SUM(tokens), SUM(tokens * due), SUM(IIF(due IS NULL, 0, tokens))
        FROM (
            SELECT {key} AS name, each.key AS lifetime, json_extract(each.value, '$[0]') AS tokens,
                json_extract(each.value, '$[1]') AS due
            FROM priced, json_each(priced.writes) AS each WHERE {where}
        )
        GROUP BY name, lifetime ORDER BY name, lifetime
        """,
        values,
    )
    found: dict[str, dict[str, Written]] = {}
    for name, lifetime, tokens, due, known in rows:
        found.setdefault(name, {})[lifetime] = Written(tokens, due / known if known else None)
    return found


def _group(row: Sequence[int], written: Mapping[str, Written]) -> Group:
    name, requests, prompt, read, output, token_seconds, reused, ever, ceiling, priced = row[:10]
    paid, plain, rent = (_sum(*row[index : index + 2]) for index in (10, 12, 14))
    return Group(
        str(name),
        requests,
        prompt,
        read,
        written,
        output,
        token_seconds,
        reused,
        ever,
        ceiling,
        priced,
        paid,
        plain,
        None if row[16] else rent,
    )


def _sum(micro: int | None, rest: int | None) -> Decimal | None:
    return None if micro is None or rest is None else dollars(micro * _MICRO + rest)


_NOTHING = Group("", 0, 0, 0, {}, 0, 0, 0, 0, 0, 0, None, None, None)
