"""What a plan says: figures with what they rest on, tables, and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["measured", "derived", "estimated"]
"""Measured: observed on a server or by running the cache on a trace. Derived: exact arithmetic on a
model's dimensions, on prices and on what was given. Estimated: also rests on something assumed."""
Unit = Literal[
    "tokens",
    "bytes",
    "parameters",
    "flops",
    "seconds",
    "share",
    "times",
    "copies",
    "reads",
    "USD",
    "prefixes",
    "bytes/token",
    "",
]
Value = int | float | Decimal | str | None


@dataclass(frozen=True, slots=True)
class Usual:
    """What the simpler formula that people quote says instead."""

    value: Value
    formula: str
    lacks: str
    """Why it differs, in a few words; empty where it doesn't."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. None is unknown, never 0."""

    key: str
    label: str
    value: Value
    unit: Unit
    kind: Kind
    how: str = ""
    usual: Usual | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    label: str
    unit: Unit
    kind: Kind


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, each as its column says."""

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Figures and tables of one subject."""

    title: str
    figures: Sequence[Figure]
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """What a plan took for granted. Not `given`: nobody said so, it is the default."""

    key: str
    value: str
    given: bool


@dataclass(frozen=True, slots=True)
class Report:
    """A plan, whole."""

    model: str
    source: str
    """Where the model's dimensions come from, and when they were read there."""
    assumptions: Sequence[Assumption]
    sections: Sequence[Section]
    findings: Sequence[str]
    """What is wrong with it: nothing fits, nothing is gained, something asked is impossible."""
    advice: Sequence[str]
    """In the order in which it pays to act."""

    def figure(self, key: str) -> Figure:
        """The figure of that key. Raises KeyError."""
        for section in self.sections:
            for figure in section.figures:
                if figure.key == key:
                    return figure
        raise KeyError(key)

    def table(self, key: str) -> Table:
        """The table of that key. Raises KeyError."""
        for section in self.sections:
            for table in section.tables:
                if table.key == key:
                    return table
        raise KeyError(key)
