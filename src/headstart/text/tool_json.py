"""The JSON inside a tool call: where it ends, and what it says byte for byte."""

import json
import re
from dataclasses import dataclass

from headstart.text.verbatim import VerbatimObject

_NAME_KEY = "name"
_ARGUMENT_KEYS = ("arguments", "parameters")
_FIRST_KEYS = tuple(f'{{"{key}"' for key in (_NAME_KEY, *_ARGUMENT_KEYS, "id", "type", "function"))
_BLANK = re.compile(r"[ \t\n\r]*")
_OUTSIDE_STRING = re.compile(r'["{}\[\]]')
_INSIDE_STRING = re.compile(r'["\\]')


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One call as it was written; `arguments` is a slice of the output."""

    name: str
    arguments: str


def skip_blank(text: str, position: int) -> int:
    """The next position that is not JSON white space."""
    match = _BLANK.match(text, position)
    return position if match is None else match.end()


class BracketScanner:
    """Finds where a JSON object or array ends, over any number of pieces, reading each once."""

    def __init__(self, start: int) -> None:
        """`start` is the position of the opening bracket."""
        self._position = start
        self._depth = 0
        self._in_string = False

    def scan(self, text: str) -> int | None:
        """`text` is all output so far. Position behind the closing bracket, None before it."""
        while True:
            pattern = _INSIDE_STRING if self._in_string else _OUTSIDE_STRING
            match = pattern.search(text, self._position)
            if match is None:
                self._position = len(text)
                return None
            if match.group() == "\\":
                if match.end() == len(text):
                    self._position = match.start()
                    return None
                self._position = match.end() + 1
                continue
            self._position = match.end()
            if match.group() == '"':
                self._in_string = not self._in_string
                continue
            self._depth += 1 if match.group() in "{[" else -1
            if self._depth == 0:
                return self._position


def may_be_call(text: str) -> bool:
    """Whether JSON that begins with `text` can still be a call, judged by its first key.

    Keeps an ordinary JSON answer streaming instead of holding it back to its last brace.
    """
    compact = "".join(text[:64].split()).removeprefix("[")
    return any(compact.startswith(key) or key.startswith(compact) for key in _FIRST_KEYS)


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


_DECODER = json.JSONDecoder()


def _read_call(text: str, start: int) -> tuple[WrittenCall, int]:
    """Read one `{"name": …, "arguments": {…}}`, other keys ignored, and the position behind it."""
    name: object = None
    arguments = "{}"
    position = skip_blank(text, _expect(text, start, "{"))
    while True:
        key, position = _DECODER.raw_decode(text, position)
        position = skip_blank(text, _expect(text, skip_blank(text, position), ":"))
        value, end = _DECODER.raw_decode(text, position)
        if key == _NAME_KEY:
            name = value
        elif key in _ARGUMENT_KEYS:
            arguments = VerbatimObject(text[position:end]).source
        position = skip_blank(text, end)
        if text[position] == "}":
            break
        position = skip_blank(text, _expect(text, position, ","))
    if not isinstance(name, str) or not name:
        raise ValueError("a call without a name")
    return WrittenCall(name, arguments), position + 1


def _expect(text: str, position: int, symbol: str) -> int:
    if text[position] != symbol:
        raise ValueError(f"expected {symbol} at {position}")
    return position + 1
