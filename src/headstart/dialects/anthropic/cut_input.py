"""A call's input as an object, also where the end of the answer cut it."""

import re
from collections.abc import Iterator

import msgspec

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}


def whole_input(arguments: str) -> msgspec.Raw:
    """`arguments` as generated; what has no end, closed behind the last value that is whole.

    So it is what Anthropic's SDKs make of the deltas of a stream that ends early.
    """
    for candidate in _closed(arguments):
        try:
            value = msgspec.json.decode(candidate)
        except msgspec.DecodeError:
            continue
        if isinstance(value, dict):
            return msgspec.Raw(candidate.encode())
    return msgspec.Raw(b"{}")


def _closed(text: str) -> Iterator[str]:
    """The text closed at its end, and where that may cut a value in two, at the last safe place."""
    closers: list[str] = []
    safe, open_there = 0, ""
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece in _CLOSERS:
            closers.append(_CLOSERS[piece])
            safe = match.end()
        elif piece in ("}", "]") and closers:
            closers.pop()
            safe = match.end()
        elif piece == ",":
            safe = match.start()
        else:
            continue
        open_there = "".join(reversed(closers))
    yield text + "".join(reversed(closers))
    yield text[:safe] + open_there
