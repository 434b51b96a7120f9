"""Texts and tools as they enter a layout: in one form, and without what will not stay."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.compare.volatile import suspects
from headstart.insight.layout.segment import Segment

MOVING: Mapping[Segment, frozenset[Cause]] = {
    Segment.ALWAYS: frozenset(
        {Cause.CLOCK, Cause.DATE, Cause.IDENTIFIER, Cause.COUNTER, Cause.NONCE}
    ),
    Segment.DAILY: frozenset({Cause.CLOCK, Cause.COUNTER, Cause.NONCE}),
    Segment.SESSION: frozenset({Cause.CLOCK, Cause.COUNTER, Cause.NONCE}),
    Segment.NOW: frozenset(),
}
"""What does not stay as long as its segment: a day has a date and a tenant an id."""


class Volatile(ValueError):
    """A text that shall stay has a value in it that looks as if it won't."""

    def __init__(self, segment: Segment, cause: Cause, value: str) -> None:
        about = ABOUT[cause]
        super().__init__(
            f"{about.code} {about.title}: {value!r} in what {segment.title}. {about.why} "
            f"{about.way_out} If it does stay the same, say steady=True."
        )
        self.cause = cause
        self.value = value


def stays(text: str, segment: Segment, *, steady: bool) -> str:
    """The text in its one form. Raises Volatile, and ValueError for an empty one."""
    text = normal(text)
    if not steady:
        for spot in suspects(text):
            if spot.cause in MOVING[segment]:
                raise Volatile(segment, spot.cause, spot.of(text))
    return text


def normal(text: str) -> str:
    """NFC, lines that end in LF. Raises ValueError for an empty text, which no vendor takes."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        raise ValueError("an empty text says nothing, and vendors refuse it")
    return text


def sorted_tools(tools: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """By name, keys sorted at every depth. Raises ValueError for a name that comes twice."""
    found = [_ordered(dict(tool)) for tool in tools]
    names = [tool.get("name") for tool in found]
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError("a tool has a name, a description and parameters (a JSON schema)")
        if names.count(name) > 1:
            raise ValueError(f"two tools are called {name}")
    return tuple(sorted(found, key=lambda tool: str(tool["name"])))


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _ordered(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_ordered(each) for each in value]
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value
