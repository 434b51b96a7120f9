"""Writes that were paid and that nobody came back for."""

from collections.abc import Iterator
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.causes import Cause
from headstart.insight.lint.breaks import Heard
from headstart.insight.lint.marks import BY_MARKS, Misplaced
from headstart.insight.rehearsal import Rehearsed

SEVERAL = 2
"""Requests that write; of a single one nobody knows who will come."""


@dataclass(slots=True)
class _Group:
    origin: Origin
    address: str
    writers: int = 0
    written: int = 0
    read: int = 0
    broken: bool = False


class Unread:
    """Hears a recording, request by request; one group for each tenant and model."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}

    def hear(self, asked: Asked, heard: Heard, rehearsed: Rehearsed) -> None:
        """One more request."""
        if rehearsed.profile.contract not in BY_MARKS or rehearsed.plan is None:
            return
        marked = [piece for piece in asked.pieces if piece.mark is not None]
        if not marked and rehearsed.prompt.wishes.automatic is None:
            return
        address = marked[-1].pointer if marked else ""
        group = self._groups.setdefault((asked.tenant, asked.model), _Group(asked.origin, address))
        written = sum(rehearsed.account.written.values())
        group.writers += written > 0
        group.written += written
        group.read += rehearsed.account.read
        group.broken = group.broken or heard.found is not None or _shares(rehearsed)

    def __iter__(self) -> Iterator[tuple[Misplaced, Origin]]:
        for group in self._groups.values():
            if group.writers >= SEVERAL and not group.read and not group.broken:
                said = f"{group.writers} requests wrote {group.written:,} tokens and read none"
                yield Misplaced(Cause.NEVER_READ, group.address, group.written, said), group.origin


def _shares(rehearsed: Rehearsed) -> bool:
    """Whether enough of it was sent before: then the marks are at fault, not the traffic."""
    return rehearsed.reused >= rehearsed.profile.minimum
