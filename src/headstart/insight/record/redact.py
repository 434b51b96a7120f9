"""A body without what it says: other words of the same sizes, equal where the words were equal.

Each word becomes letters drawn from a keyed hash of itself and of the two words before it. So two
bodies that were redacted with one key part where the bodies did, and go on alike two words later;
token counts hardly change. Without the key nobody can try out what a word was; white space,
punctuation, the lengths of words and which passages are alike still show, and the names of fields.
"""

import os
import re
from collections.abc import Mapping
from hashlib import shake_128
from typing import Any

KEY_BYTES = 32

_WORD = re.compile(
    "\\s+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
    "|[^\\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+"
)
"""White space, one character of a script without spaces, or a run of any others."""
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@-]{1,128}")

KEPT = frozenset(
    (
        *("role", "type", "model", "mode", "ttl", "service_tier", "effort", "reasoning_effort"),
        *("verbosity", "media_type", "mimeType", "mime_type", "object", "speed", "tool_choice"),
        *("prompt_cache_retention", "anthropic_version", "display", "cache"),
    )
)
"""Fields whose short values say how something is asked, not what."""
SETTINGS = frozenset(
    (
        *("thinking", "reasoning", "output_config", "stream_options", "prompt_cache_options"),
        *("generationConfig", "generation_config", "inferenceConfig", "cache_control"),
        *("prompt_cache_breakpoint", "cache_hints"),
    )
)
"""Objects whose numbers are settings too."""
FREE = frozenset(("input", "arguments", "args", "response", "metadata", "labels"))
"""Below these a field may be called anything, so none of them is kept."""


class Redactor:
    """Redacts bodies. With one key, equal texts stay equal over bodies and processes."""

    def __init__(self, key: bytes | None = None) -> None:
        """Without a key it makes one and keeps it to itself."""
        self._key = os.urandom(KEY_BYTES) if key is None else key

    def __call__(self, body: Any) -> Any:
        """The body; its own numbers, such as `max_tokens`, stay."""
        if not isinstance(body, Mapping):
            return self._value(body, "", free=True, numbers=False)
        return {
            name: self._value(
                value,
                name,
                free=name in FREE and name != "input",  # Of Responses it is the conversation.
                numbers=name in SETTINGS or not isinstance(value, Mapping | list),
            )
            for name, value in body.items()
        }

    def _value(self, value: Any, name: str, *, free: bool, numbers: bool) -> Any:
        """`numbers`: whether they are settings here."""
        match value:
            case str():
                keep = not free and name in KEPT and _PLAIN.fullmatch(value)
                return value if keep else self.text(value)
            case int() | float() if not isinstance(value, bool):
                return value if numbers else self._number(value)
            case Mapping():
                return {
                    key: self._value(
                        each,
                        key,
                        free=free or key in FREE,
                        numbers=not free and (numbers or key in SETTINGS),
                    )
                    for key, each in value.items()
                }
            case list():
                return [self._value(each, name, free=free, numbers=False) for each in value]
            case _:
                return value

    def text(self, text: str) -> str:
        """As long as it was."""
        before = ("", "")
        parts = []
        for word in _WORD.findall(text):
            if word.isspace():
                parts.append(word)
                continue
            parts.append(self._word(word, before))
            before = (before[1], word)
        return "".join(parts)

    def _word(self, word: str, before: tuple[str, str]) -> str:
        said = "\0".join((*before, word)).encode("utf-8", "surrogatepass")
        drawn = shake_128(self._key + said).digest(2 * len(word))
        pairs = zip(drawn[::2], drawn[1::2], strict=True)
        return "".join(
            _letter(letter, 256 * high + low)
            for letter, (high, low) in zip(word, pairs, strict=True)
        )

    def _number(self, number: float) -> float:
        drawn = self._word(repr(number), ("", ""))
        try:
            return type(number)(drawn)
        except ValueError:  # An exponent, or an infinity.
            return number


def _letter(letter: str, drawn: int) -> str:
    """Another of its kind; punctuation as it is."""
    if letter.isascii():
        if letter.isdecimal():
            return chr(ord("0") + drawn % 10)
        if letter.isalpha():
            return chr(ord("A" if letter.isupper() else "a") + drawn % 26)
        return letter
    if "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3":
        return chr(0x4E00 + drawn % 0x5000)
    return chr(0x0430 + drawn % 32) if letter.isalpha() else letter
