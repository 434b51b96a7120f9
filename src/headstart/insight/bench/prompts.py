"""Prompts nobody has seen: random token ids, and the same as words for endpoints that want text."""

import random
from collections.abc import Sequence

FIRST_ID = 1000
LAST_ID = 19_999
"""Past the special and byte tokens, within the vocabulary of every model in use."""

_NOUNS = (
    "time year people way day man thing woman life child world school state family student group"
    " country problem hand part place case week company system program question work government"
    " number night point home water room mother area money story fact month lot right study book"
    " eye job word business issue side kind head house service friend father power hour game line"
    " end member law car city community name president team minute idea body information back"
    " parent face others level office door health person art war history party result change"
    " morning reason research girl guy moment air teacher force education"
)
WORDS = tuple(_NOUNS.split())
"""Common English nouns: with a space before it, each is one token in nearly every vocabulary."""


class PromptSource:
    """Draws runs of token ids, each beginning with an id that began none before it.

    So two runs share no prefix, not even one token, and a question after a shared prefix differs
    from every other question from its first token on.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ids = list(range(FIRST_ID, LAST_ID + 1))
        self._starts = self._random.sample(self._ids, len(self._ids))

    def fresh(self, length: int) -> tuple[int, ...]:
        """`length` ids (at least 1). Raises IndexError after 19,000 runs."""
        return (self._starts.pop(), *self._random.choices(self._ids, k=length - 1))


def as_words(ids: Sequence[int]) -> str:
    """The same sequence as text, one word an id: equal prefixes stay equal, lengths nearly so."""
    return " ".join(WORDS[token % len(WORDS)] for token in ids)
