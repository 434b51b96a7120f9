"""How text of a prompt is shown in a report: in part, or as a hash where it must not be seen."""

from collections.abc import Callable
from hashlib import sha256

Show = Callable[[str], str]

NOTHING = "nothing"
"""Shown where there is no text."""
MOST = 72
"""Characters of a text that are shown."""


def plain(text: str) -> str:
    """The text in one line, shortened in the middle; what can't be seen is escaped."""
    if not text:
        return NOTHING
    if len(text) > MOST:
        text = f"{text[: MOST // 2]}…{text[-MOST // 2 + 1 :]}"
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def redacted(text: str) -> str:
    """Length and hash: equal texts can still be told to be equal."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[{len(text)} characters, sha256 {digest[:12]}]"


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
