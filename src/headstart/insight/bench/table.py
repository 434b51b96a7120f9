"""A table as data, and three ways to show it: for a terminal, for a file, for a README."""

from dataclasses import dataclass

from rich.table import Table as RichTable
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text. Notes go below, a line each."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def plain(table: Table) -> str:
    """Columns padded with spaces: readable in a log, easy to cut."""
    lines = [table.columns, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    body = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([table.title, *body, *table.notes])


def markdown(table: Table) -> str:
    """A GitHub table under a heading."""
    lines = [table.columns, ("---:",) * len(table.columns), *table.rows]
    body = ["| " + " | ".join(line) + " |" for line in lines]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"### {table.title}", "", *body, *([""] if notes else []), *notes])


def rich(table: Table) -> RichTable:
    """For a terminal."""
    shown = RichTable(
        title=table.title,
        title_justify="left",
        caption=Text("\n".join(table.notes)) if table.notes else None,
        caption_justify="left",
    )
    for column in table.columns:
        shown.add_column(column, justify="right")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown
