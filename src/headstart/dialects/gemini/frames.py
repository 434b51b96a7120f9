"""How the chunks of a stream are put on the wire."""

from typing import Protocol


class Frames(Protocol):
    """Wraps JSON texts, one after the other."""

    def next(self, chunk: bytes) -> bytes:
        """The next one."""
        ...

    def end(self) -> bytes:
        """There are no more."""
        ...


class Events:
    """`?alt=sse`: `data: ` lines and nothing else, not even a last word.

    The SDK fails on any other line, comments and `[DONE]` included.
    """

    def next(self, chunk: bytes) -> bytes:
        """One event."""
        return b"data: " + chunk + b"\r\n\r\n"

    def end(self) -> bytes:
        """The body ends."""
        return b""


class JsonArray:
    """One JSON array, an element at a time."""

    def __init__(self) -> None:
        self._begun = False

    def next(self, chunk: bytes) -> bytes:
        """One element."""
        before = b",\r\n" if self._begun else b"["
        self._begun = True
        return before + chunk

    def end(self) -> bytes:
        """The bracket."""
        return b"]"
