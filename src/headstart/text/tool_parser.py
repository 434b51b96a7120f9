"""The streaming parser all tool formats share: an opening, JSON, and maybe a closing tag."""

from dataclasses import dataclass
from typing import Protocol

from headstart.text.tool_events import CallArguments, CallStart, Event, Text
from headstart.text.tool_json import BracketScanner, may_be_call, skip_blank
from headstart.text.written_calls import read_calls, read_cut_calls

_NO_CALL = -1
"""In place of a call's end: what stands here can't become a call any more."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a call may begin: text up to `start` is ordinary, the JSON follows at `body`."""

    start: int
    body: int


class OpeningFinder(Protocol):
    """How a format's calls begin."""

    def find(self, text: str) -> Opening | None:
        """The first opening in `text`, which begins where ordinary text or the last call ended."""
        ...

    def held(self, text: str) -> int:
        """How many characters at the end of `text` may still become an opening."""
        ...

    def passed(self, *, call: bool) -> None:
        """Text before here is settled: it ended with a call, or was ordinary text."""
        ...


class JsonCallParser:
    """Holds a call back until it is complete and valid, then reports it at once.

    Only so can a malformed call come back as text: a start, once reported, cannot be taken back.
    """

    def __init__(self, openings: OpeningFinder, closing: str) -> None:
        self._openings = openings
        self._closing = closing
        self._buffer = ""
        self._opening: Opening | None = None
        self._scanner: BracketScanner | None = None
        self._json_end: int | None = None
        self._calls = 0

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output."""
        self._buffer += text
        return self._advance(final=False)

    def finish(self, *, cut: bool) -> list[Event]:
        """Settle what was held back. A call that lacks nothing but its closing tag counts.

        One that was cut counts once its name is whole, with what is there of its arguments.
        """
        events = self._advance(final=True, cut=cut)
        return events + self._release(len(self._buffer))

    def _advance(self, *, final: bool, cut: bool = False) -> list[Event]:
        events: list[Event] = []
        while True:
            if self._opening is None:
                self._opening = self._openings.find(self._buffer)
                if self._opening is None:
                    held = 0 if final else self._openings.held(self._buffer)
                    return events + self._release(len(self._buffer) - held)
                events += self._release(self._opening.start)
                self._opening = Opening(0, self._opening.body - self._opening.start)
            end = self._call_end(self._opening.body, final=final)
            if end is None and not final:
                return events
            calls = None if end == _NO_CALL else self._read(self._opening.body, cut=cut)
            if calls is None:
                events += self._release(max(self._opening.body, 1))
            else:
                events += calls
                self._buffer = "" if end is None else self._buffer[end:]
                self._openings.passed(call=True)
            self._opening = self._scanner = self._json_end = None

    def _call_end(self, body: int, *, final: bool) -> int | None:
        """Position behind the call, None while that is open, _NO_CALL as soon as it is none."""
        start = skip_blank(self._buffer, body)
        if self._scanner is None:
            if start == len(self._buffer):
                return None
            self._scanner = BracketScanner(start)
        if self._json_end is None:
            if not may_be_call(self._buffer[start : start + 64]):
                return _NO_CALL
            self._json_end = self._scanner.scan(self._buffer)
            if self._json_end is None:
                return None
        tail = skip_blank(self._buffer, self._json_end) if self._closing else self._json_end
        rest = self._buffer[tail : tail + len(self._closing)]
        if rest == self._closing:
            return tail + len(self._closing)
        if self._closing.startswith(rest):
            return len(self._buffer) if final else None
        return _NO_CALL

    def _read(self, body: int, *, cut: bool) -> list[Event] | None:
        """The call's events, None where its JSON is not a call, or has no end and wasn't cut."""
        if self._json_end is None and not cut:
            return None
        written = self._buffer[skip_blank(self._buffer, body) : self._json_end]
        calls = read_cut_calls(written) if self._json_end is None else read_calls(written)
        if calls is None:
            return None
        events: list[Event] = []
        for call in calls:
            events.append(CallStart(self._calls, call.name))
            if call.arguments:
                events.append(CallArguments(self._calls, call.arguments))
            self._calls += 1
        return events

    def _release(self, length: int) -> list[Event]:
        """Give the first `length` characters back as text."""
        if length == 0:
            return []
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        self._openings.passed(call=False)
        return [Text(text)]
