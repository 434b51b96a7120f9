"""Where a finding is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, as near as it is known."""

    path: str
    """As the user named it, or under a directory the user named; `-` is stdin."""
    line: int | None = None
    """From 1. Of a log: the line of the request."""
    column: int | None = None
    """In code points, from 1."""
    end_line: int | None = None
    pointer: str | None = None
    """RFC 6901, into the JSON document of the file or of the line: `/messages/0/content`."""

    def __str__(self) -> str:
        parts = [self.path, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts) + (f" {self.pointer}" if self.pointer else "")
