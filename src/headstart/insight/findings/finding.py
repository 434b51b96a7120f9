"""One thing that a linter found."""

from dataclasses import dataclass
from enum import StrEnum

from headstart.insight.findings.place import Place


class Severity(StrEnum):
    """SARIF's levels; `rank` 0 is the worst."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Of two, the lower is the worse."""
        return list(Severity).index(self)


class Evidence(StrEnum):
    """How a finding is known."""

    CONFIRMED = "confirmed"
    """Seen: two requests differ there, or the source says so without any doubt."""
    SUSPECTED = "suspected"
    """By a pattern, a name or a way that may not be taken."""
    ESTIMATE = "estimate"
    """By a number that was not counted."""


@dataclass(frozen=True, slots=True)
class Step:
    """Another place that belongs to a finding: a step of a path, or what it is compared with."""

    where: Place
    text: str
    """What is there, in a few words or the source itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What, why, where, and the way out."""

    code: str
    """Of its rule, such as `HSC101`."""
    severity: Severity
    message: str
    """What is wrong, in one sentence without a line number: it names the finding over versions."""
    why: str
    """What it costs or breaks, in one sentence."""
    where: Place
    evidence: Evidence
    fix: str | None = None
    """The way out, in one or two sentences."""
    steps: tuple[Step, ...] = ()
    """How it comes about, in order; the last is usually at `where`."""
