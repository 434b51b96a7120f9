"""What the JSON of tool calls says, byte for byte; also where the end of the output cut it off."""

import json
from dataclasses import dataclass

from headstart.text.tool_json import ARGUMENT_KEYS, NAME_KEY, BracketScanner, skip_blank
from headstart.text.verbatim import VerbatimObject

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One call as it was written; `arguments` is a slice of the output."""

    name: str
    arguments: str


def read_calls(text: str) -> list[WrittenCall] | None:
    """The calls in a JSON object, or an array of them; None where any is malformed."""
    try:
        if not text.startswith("["):
            return [_read_call(text, 0)[0]]
        calls = []
        position = skip_blank(text, 1)
        while True:
            call, position = _read_call(text, position)
            calls.append(call)
            position = skip_blank(text, position)
            if text[position] == "]":
                return calls
            position = skip_blank(text, _expect(text, position, ","))
    except (ValueError, IndexError):
        return None


def read_cut_calls(text: str) -> list[WrittenCall] | None:
    """The calls in JSON that lacks its end; the last has what is there of its arguments.

    One that was cut counts once its name is whole. None where there is no call, and where a whole
    one is malformed.
    """
    calls = []
    position = skip_blank(text, 1) if text.startswith("[") else 0
    try:
        while BracketScanner(position).scan(text) is not None:
            call, position = _read_call(text, position)
            calls.append(call)
            position = skip_blank(text, position)
            if position == len(text):
                return calls
            position = skip_blank(text, _expect(text, position, ","))
    except ValueError:
        return None
    return [*calls, *_read_cut_call(text, position)] or None


def _read_call(text: str, start: int) -> tuple[WrittenCall, int]:
    """A call and the position behind it. Raises as _CallReader.read does."""
    reader = _CallReader()
    end = reader.read(text, start)
    if not reader.name:
        raise ValueError("a call without a name")
    return WrittenCall(reader.name, reader.arguments or "{}"), end


def _read_cut_call(text: str, start: int) -> list[WrittenCall]:
    """A call that lacks its end, unless what is there is none yet."""
    reader = _CallReader()
    try:
        reader.read(text, start)
    except (ValueError, IndexError):
        if reader.name and reader.arguments[:1] in ("", "{"):
            return [WrittenCall(reader.name, reader.arguments)]
    return []


@dataclass(slots=True)
class _CallReader:
    """Reads one `{"name": …, "arguments": {…}}`, other keys ignored, and keeps what it came to."""

    name: str = ""
    arguments: str = ""

    def read(self, text: str, start: int) -> int:
        """Position behind it. Raises ValueError, and IndexError where it lacks its end."""
        position = skip_blank(text, _expect(text, start, "{"))
        while True:
            key, position = _DECODER.raw_decode(text, position)
            position = skip_blank(text, _expect(text, skip_blank(text, position), ":"))
            if key in ARGUMENT_KEYS:
                self.arguments = text[position:]
            value, end = _DECODER.raw_decode(text, position)
            if key == NAME_KEY:
                self.name = value if isinstance(value, str) else ""
            elif key in ARGUMENT_KEYS:
                self.arguments = VerbatimObject(text[position:end]).source
            position = skip_blank(text, end)
            if text[position] == "}":
                return position + 1
            position = skip_blank(text, _expect(text, position, ","))


def _expect(text: str, position: int, symbol: str) -> int:
    if text[position] != symbol:
        raise ValueError(f"expected {symbol} at {position}")
    return position + 1
