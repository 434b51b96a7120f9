"""The pieces one choice of a chat completion is made of, in the order they come."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """Tool call number `position` begins."""

    position: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """More of a call's arguments, as JSON text."""

    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The choice is whole. `reason` is OpenAI's `finish_reason`."""

    reason: str
    stop: str | None = None
    """The stop string that ended it."""


Delta = TextDelta | CallStart | CallArguments | Finish
