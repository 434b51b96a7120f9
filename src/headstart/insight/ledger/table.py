"""What a ledger's report looks like in a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headstart.ledger import Group, Report

WIDTH = 150
"""Columns where the terminal tells none: all of the table fits."""
COLUMNS = (
    "requests",
    "prompt",
    "read",
    "written",
    "fresh",
    "output",
    "hit rate",
    "ceiling",
    "paid",
    "no cache",
    "saved",
)


def show(found: Report, path: Path) -> None:
    """Print the table, its totals and what they mean. `path` is where the accounts lie."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    total = found.total
    begin = "" if found.since is None else f" since {_when(found.since)}"
    console.print(Text(f"{_count(total.requests)} requests{begin}, from {path}"), soft_wrap=True)
    if not (total.requests or total.token_seconds):
        return
    console.print(_table(found))
    for line in (*_rates(total), *_money(total)):
        console.print(Text(line), soft_wrap=True)


def _table(found: Report) -> Table:
    table = Table(found.by or "")
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for group in found.groups:
        table.add_row(Text(_printable(group.name)), *_cells(group))
    if found.groups:
        table.add_section()
    table.add_row("all", *_cells(found.total))
    return table


def _cells(group: Group) -> Sequence[str]:
    tokens = (
        group.requests,
        group.prompt,
        group.read,
        sum(each.tokens for each in group.written.values()),
        group.fresh,
        group.output,
    )
    shares = (group.hit_rate, group.ceiling)
    money = (group.paid, group.plain, group.saved)
    partial = "*" if group.partial else ""
    return [
        *(_count(each) for each in tokens),
        *("–" if share is None else f"{share:.1%}" for share in shares),
        *("unknown" if each is None else f"{_dollars(each)}{partial}" for each in money),
    ]


def _rates(total: Group) -> list[str]:
    lines = ["Rates are shares of tokens. The ceiling is what an infinite cache would have read."]
    if total.ceiling_prompt < total.prompt:
        share = total.ceiling_prompt / total.prompt
        lines.append(f"The ceiling is known for {share:.1%} of the prompt tokens.")
    return lines


def _money(total: Group) -> list[str]:
    lines = []
    if total.priced < total.requests:
        unpriced = total.requests - total.priced
        lines.append(f"* Requests whose price is unknown: {_count(unpriced)} (see --prices).")
    if total.token_seconds and total.rent is None:
        lines.append("* Storage whose price is unknown.")
    if total.rent:
        lines.append(f"Storage is {_dollars(total.rent)} of what was paid.")
    for name, each in total.written.items():
        if each.break_even is not None:
            lines.append(
                f"What is written for {name} pays once it is read {each.break_even:.2f} times."
            )
    return lines


def _count(number: int) -> str:
    return f"{number:,}"


def _dollars(amount: Decimal) -> str:
    """To a hundredth of a cent: a request costs less than a cent."""
    rounded = amount.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return f"-${-rounded:,}" if rounded < 0 else f"${abs(rounded):,}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _printable(name: str) -> str:
    """Names come from clients: no control characters reach the terminal."""
    return (name if name.isprintable() else ascii(name)) or "–"
