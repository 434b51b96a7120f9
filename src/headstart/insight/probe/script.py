"""A script: a generator that says what to ask next, is told the answer, and returns what it found.

It knows neither HTTP nor a clock, so a test can answer it from a dict and let days go by.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one answer in one meaning for all vendors; None is not reported."""

    input: int | None = None
    """The whole prompt: what was read from the cache or written to it included."""
    cached: int | None = None
    """Read from the cache."""
    written: int | None = None
    output: int | None = None

    def then(self, later: "Usage") -> "Usage":
        """What a stream has said by now: later counts replace earlier ones."""
        return Usage(
            self.input if later.input is None else later.input,
            self.cached if later.cached is None else later.cached,
            self.written if later.written is None else later.written,
            self.output if later.output is None else later.output,
        )


NOTHING_TOLD = Usage()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt, which is what can be reused, and a user's message."""

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    prompt: Prompt
    purpose: str
    """For who looks on."""
    other: bool = False
    """Sent with another tenant's key."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is sent before this moment, on the clock of `Reply.sent`."""

    until: float


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. Seconds; `ttft` from the request's being sent to its first token."""

    sent: float
    ttft: float
    usage: Usage


class Spent(Exception):
    """Thrown into a script in place of an answer: the budget has no room for this call."""


Script = Generator[Call | Wait, Reply | None, T]


def ask(prompt: Prompt, purpose: str, *, other: bool = False) -> Script[Reply]:
    """One call within a script. Raises Spent."""
    reply = yield Call(prompt, purpose, other)
    assert reply is not None, "a call is answered by a reply"
    return reply
