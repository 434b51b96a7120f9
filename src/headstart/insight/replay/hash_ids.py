"""Recorded block ids as the cache takes them: what Mooncake's and Bailian's lines share."""

from array import array
from collections.abc import Sequence
from pathlib import Path

from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.meaning import Meaning
from headstart.insight.replay.request import Ids


class HashIds:
    """The ids of a recording, line after line; the last one of a prompt may be part full."""

    def __init__(self, block_tokens: int, meaning: Meaning | None = None) -> None:
        """`meaning`: ids name prefixes, and it checks them."""
        self._block_tokens = block_tokens
        self._meaning = meaning
        self._ids = Ids()

    def packed(
        self, path: Path, number: int, hash_ids: Sequence[int], input_length: int
    ) -> "array[int]":
        """Those of line `number`. Raises TraceError."""
        if len(hash_ids) != -(-input_length // self._block_tokens):
            raise TraceError(
                f"{path.name}:{number}: hash_ids do not cover input_length in blocks of"
                f" {self._block_tokens}"
            )
        if self._meaning is not None:
            self._meaning.check(path, number, hash_ids)
        try:
            return self._ids.packed(hash_ids)
        except OverflowError:
            raise TraceError(
                f"{path.name}:{number}: ids of 32 bits and larger ones are mixed"
            ) from None
