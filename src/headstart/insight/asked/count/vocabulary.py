"""Tokens by a vocabulary that a package carries: exact for texts, and never fetched.

OpenAI's encodings, and those of Llama 3 and Qwen 3, are in quicktok-v1 (extra `tokens`). tiktoken
fetches its own at run time, so it is not used.
"""

from array import array
from collections.abc import Mapping

from headstart.insight.asked.errors import Unreadable

VOCABULARIES: Mapping[str, str] = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "llama3": "llama3",
    "qwen3": "qwen3",
}
"""By the name that a user says: what the package calls it. o200k: GPT-4o and later."""


class Vocabulary:
    """Counts by one of VOCABULARIES."""

    measured = True

    def __init__(self, name: str) -> None:
        """Raises Unreadable without the extra."""
        try:
            from quicktok import get_encoding
        except ImportError:
            raise Unreadable(
                f"--tokenizer {name} takes the extra: pip install 'headstart[tokens]'"
            ) from None
        self._encoding = get_encoding(VOCABULARIES[name])
        self.method = name

    def tokens(self, text: str) -> int:
        """Exactly."""
        return len(self.ids(text))

    def ids(self, text: str) -> "array[int]":
        """The vocabulary's. A lone surrogate, which no vocabulary has, counts as a `?`."""
        known = text.encode("utf-8", "replace").decode()
        return array("I", self._encoding.encode_ordinary(known))
