"""The JSON inside a tool call: whether it can be one, and where it ends."""

import re

NAME_KEY = "name"
ARGUMENT_KEYS = ("arguments", "parameters")
_FIRST_KEYS = tuple(f'{{"{key}"' for key in (NAME_KEY, *ARGUMENT_KEYS, "id", "type", "function"))
_BLANK = re.compile(r"[ \t\n\r]*")
_OUTSIDE_STRING = re.compile(r'["{}\[\]]')
_INSIDE_STRING = re.compile(r'["\\]')


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
