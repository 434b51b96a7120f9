"""One request and its answer, as they go by."""

import re
from collections import deque
from dataclasses import dataclass, field

HEAD = TAIL = 1 << 20
"""Bytes that are kept of an answer's beginning and of its end: usage is told in either."""

MODELS = re.compile(
    r"/(?:messages|chat/completions|completions|responses|converse|converse-stream"
    r"|invoke|invoke-with-response-stream)/?$|:(?:stream)?(?:generateContent|rawPredict)$",
    re.IGNORECASE,
)
"""The paths at which a model is asked."""
HEADERS = ("anthropic-version", "anthropic-beta")
"""Of the request's; all others may hold a key."""
IDS = ("request-id", "x-request-id", "x-amzn-requestid")


@dataclass(slots=True)
class Exchange:
    """What is known of one by now. Nothing here is worked out before it has ended."""

    url: str
    """Without its query and without a user: keys stand there too."""
    headers: dict[str, str]
    body: bytes
    """As it was sent."""
    time: float
    """Unix seconds."""
    began: float
    """Seconds on a clock that never goes back, like those below."""
    status: int | None = None
    kind: str = ""
    """The answer's `content-type`."""
    encoding: str = ""
    request_id: str = ""
    first: float | None = None
    """When the first byte of the answer's body came."""
    ended: float | None = None
    error: str = ""
    """The name of what broke it off."""
    cut: bool = False
    """Whether a part of the answer was left out of `head` and `tail`."""
    head: list[bytes] = field(default_factory=list)
    tail: deque[bytes] = field(default_factory=deque)
    kept: int = 0
    """Bytes of `head` and `tail`."""
    _head: int = 0
    _tail: int = 0

    def add(self, chunk: bytes) -> int:
        """Keep a chunk, or let older ones go. How many bytes more are kept than before."""
        before = self._head + self._tail
        if self._head < HEAD and not self.tail:
            self.head.append(chunk)
            self._head += len(chunk)
        else:
            self.tail.append(chunk)
            self._tail += len(chunk)
            while self._tail > TAIL and len(self.tail) > 1:
                self._tail -= len(self.tail.popleft())
                self.cut = True
        self.kept = self._head + self._tail
        return self.kept - before

    @property
    def answer(self) -> bytes:
        """Its bytes, as they came; what was cut out is a blank line, which ends an event."""
        between = b"\n\n" if self.cut else b""
        return b"".join([*self.head, between, *self.tail])
