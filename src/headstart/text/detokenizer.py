"""From token ids back to text, one token at a time and never half a character."""

import codecs
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from headstart.text.pieces import Pieces

_PRIMING = 8
"""Enough tokens to hold the start of any unfinished character: it has at most three bytes."""


class Detokenizer:
    """Incremental decoding. The pieces it returns, joined, are the decoded text of all ids.

    Bytes are what accumulates, so the work per token does not grow with the text, and at most three
    bytes (an unfinished UTF-8 character) are ever held back. Bytes that cannot become a character
    turn into U+FFFD as soon as that is certain.
    """

    def __init__(
        self, pieces: Pieces, hidden: AbstractSet[int], prompt_tail: Sequence[int] = ()
    ) -> None:
        """`hidden` ids yield no text. `prompt_tail` is what the output continues, or its end."""
        self._pieces = pieces
        self._hidden = hidden
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._at_start = pieces.strips_first_space and all(id_ in hidden for id_ in prompt_tail)
        for id_ in prompt_tail[-_PRIMING:]:
            self.feed(id_)

    def feed(self, token_id: int) -> str:
        """The characters that this token completes."""
        if token_id in self._hidden:
            return ""
        data = self._pieces[token_id]
        if self._at_start and data:
            data = data.removeprefix(b" ")
            self._at_start = False
        return self._decoder.decode(data)

    def flush(self) -> str:
        """The end of the output: what is left of an unfinished character, as U+FFFD."""
        return self._decoder.decode(b"", final=True)
