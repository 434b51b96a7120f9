"""Tokens by a model's own `tokenizer.json`: exact for texts; the chat template isn't known."""

from array import array
from pathlib import Path

from headstart.insight.asked.errors import Unreadable


class TokenizerFile:
    """Counts by a vocabulary."""

    measured = True

    def __init__(self, path: Path) -> None:
        """Raises Unreadable for what is no tokenizer.json."""
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # The library raises nothing more exact.
            raise Unreadable(f"no tokenizer.json: {error}", str(path)) from None
        self.method = str(path)

    def tokens(self, text: str) -> int:
        """Exactly."""
        return len(self.ids(text))

    def ids(self, text: str) -> "array[int]":
        """The vocabulary's. A lone surrogate, which no vocabulary has, counts as a `?`."""
        known = text.encode("utf-8", "replace").decode()
        return array("I", self._tokenizer.encode(known, add_special_tokens=False).ids)
