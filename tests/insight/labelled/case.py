"""What the set consists of: requests, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from headstart.contracts.prompt import Kind
from headstart.insight.asked.asked import Format, Vendor
from headstart.insight.causes import Cause

Dialect = Literal["anthropic", "chat", "responses", "gemini", "deepseek"]
DIALECTS: tuple[Dialect, ...] = ("anthropic", "chat", "responses", "gemini", "deepseek")
Body = dict[str, Any]

VENDORS: dict[Dialect, Vendor] = {
    "anthropic": "anthropic",
    "chat": "openai",
    "responses": "openai",
    "gemini": "gemini",
    "deepseek": "deepseek",
}


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Requests in the order in which they were sent, and the truth about them."""

    name: str
    """`dialect/what/variant`: unique, and the same for every seed."""
    dialect: Dialect
    bodies: Sequence[Body]
    cause: Cause | None = None
    """What was planted; None in what is healthy."""
    also: frozenset[Cause] = frozenset()
    """What may be named beside it, or as information about what is healthy: true too."""
    place: Kind | None = None
    """The kind of piece it was planted in; None where it is no piece (a setting, the model)."""
    pointer: str = ""
    """The JSON pointer, in the last body, of the piece or field at fault.

    A piece is the string or the object that holds its text: `/system`, `/messages/2/content/0`.
    """
    evidence: Sequence[str] = ()
    """What differs, as it stands in each body's text; empty where nothing can be quoted."""
    kept: int | None = None
    """How many of the last body's pieces, from the first, the request before it shares with it in
    the vendor's eyes; None where that isn't settled or nothing diverges."""
    twin: Sequence[Body] = ()
    """The same requests without what was planted: healthy. Empty where there is no such thing."""
    note: str = ""

    @property
    def kind(self) -> Literal["defect", "healthy"]:
        return "healthy" if self.cause is None else "defect"

    @property
    def vendor(self) -> Vendor:
        return VENDORS[self.dialect]

    @property
    def format(self) -> Format:
        return "chat" if self.dialect == "deepseek" else self.dialect

    def label(self) -> dict[str, Any]:
        """All but the requests, as JSON."""
        return {
            "name": self.name,
            "dialect": self.dialect,
            "kind": self.kind,
            "cause": self.cause,
            "also": sorted(self.also),
            "place": self.place,
            "pointer": self.pointer,
            "evidence": list(self.evidence),
            "kept": self.kept,
            "note": self.note,
        }

    def lines(self) -> list[Any]:
        """The requests as a log has them, one value a line."""
        return list(self.bodies)


@dataclass(frozen=True, kw_only=True)
class Case(Labelled):
    """One to five requests with one fact about them."""


@dataclass(frozen=True, kw_only=True)
class Log(Labelled):
    """Forty requests of many sessions."""

    times: Sequence[float] = field(default_factory=list)
    """Unix seconds."""
    sessions: Sequence[str] = field(default_factory=list)

    def lines(self) -> list[Any]:
        """With `time` and `session` beside each body."""
        rows = zip(self.times, self.sessions, self.bodies, strict=True)
        return [{"time": time, "session": name, "body": body} for time, name, body in rows]
