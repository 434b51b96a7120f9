"""Requests that are one prompt with other values, and the sessions that they are of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY
from headstart.insight.layout.clauses import clauses


@dataclass(slots=True)
class Family:
    """In the order in which they were sent."""

    requests: list[Asked] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    """Of each: as its recording names it, else that of its first message."""
    known: dict[str, int] = field(default_factory=dict)
    """The clauses of the first request's tools and instructions, and their lengths."""

    def day(self, index: int) -> str:
        """In UTC; empty where the time is unknown."""
        time = self.requests[index].time
        return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def families(requests: Iterable[Asked]) -> list[Family]:
    """Of one vendor's format and model, and with at least half of their instructions in common."""
    found: dict[tuple[str, str, str], list[Family]] = {}
    for asked in requests:
        group = found.setdefault((asked.format, asked.vendor, asked.model), [])
        said = _early(asked)
        family = next((each for each in group if _alike(each.known, said)), None)
        if family is None:
            family = Family(known=said)
            group.append(family)
        family.requests.append(asked)
        family.sessions.append(asked.session or _opening(asked))
    return [family for group in found.values() for family in group]


def _early(asked: Asked) -> dict[str, int]:
    texts = (piece.text for piece in asked.pieces if piece.kind in EARLY)
    return {clause: len(clause) for text in texts for clause in clauses(text)}


def _alike(one: dict[str, int], other: dict[str, int]) -> bool:
    shared = sum(size for clause, size in one.items() if clause in other)
    return 2 * shared >= min(sum(one.values()), sum(other.values()))


def _opening(asked: Asked) -> str:
    messages = [piece for piece in asked.pieces if piece.kind not in EARLY]
    first = [piece.digest.hex() for piece in messages if piece.message == messages[0].message]
    return " ".join([asked.tenant, *first])
