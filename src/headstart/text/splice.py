"""Answers keep the ids they were generated with (TURN-01).

A model's answer, sent back by the client and tokenised again, is often not the ids that were
generated: the chain of blocks would break inside every answer. So the ids are remembered under the
text they decode to, and a prompt that continues exactly this text gets them. This differs from a
full encoding on purpose: it is what the model read and wrote, and what lies in the cache.
"""

from collections.abc import Collection, Sequence

from headstart.text.detokenizer import Detokenizer
from headstart.text.incremental import IncrementalEncoder
from headstart.text.pieces import Pieces
from headstart.text.remembered import Cut

_REPLACEMENT = "\ufffd"


class Splicer:
    """Teaches an `IncrementalEncoder` the answers to the prompts that it encoded."""

    def __init__(
        self, encoder: IncrementalEncoder, pieces: Pieces, end_ids: Collection[int]
    ) -> None:
        """`end_ids` end a turn. They are not part of an answer: templates write them themselves."""
        self._encoder = encoder
        self._pieces = pieces
        self._end_ids = end_ids

    def remember(self, scope: str, prompt: Sequence[int], answer: Sequence[int]) -> bool:
        """Note that the model continued `prompt` with `answer`; whether there is use in it.

        There is none in an empty answer, in one that is not whole characters, and where `prompt`
        was not encoded in this scope, or is forgotten. Templates that trim an answer are followed
        if the trimmed white space is made of whole tokens at the end.
        """
        kept = len(answer)
        while kept and answer[kept - 1] in self._end_ids:
            kept -= 1
        answer = answer[:kept]
        detokenizer = Detokenizer(self._pieces, frozenset(), prompt)
        text = "".join([*map(detokenizer.feed, answer), detokenizer.flush()])
        if not text or _REPLACEMENT in text:
            return False
        return self._encoder.learn(scope, prompt, answer, text, self._ends(answer, text))

    def _ends(self, answer: Sequence[int], text: str) -> list[Cut]:
        whole = Cut(len(text), len(answer))
        characters, tokens = whole.characters, whole.tokens
        while tokens and (piece := self._pieces[answer[tokens - 1]]).isspace():
            characters, tokens = characters - len(piece), tokens - 1
        trimmed = Cut(characters, tokens)
        if 0 < characters < whole.characters and characters == len(text.rstrip()):
            return [trimmed, whole]
        return [whole]
