"""How many tokens lie before a place in a text, measured from the nearest place that is known."""

from collections.abc import Mapping, Sequence

from headstart.text.seams import Seams


class Ruler:
    """Measures one text. Places that follow one another cost by what lies between them, or less."""

    def __init__(
        self, text: str, ids: Sequence[int], lengths: Mapping[int, int], seams: Seams
    ) -> None:
        """`ids` and `seams` are those of `text`; `lengths` are tokens' bytes."""
        self._text = text
        self._ids = ids
        self._lengths = lengths
        self._seams = seams
        self._place = self._token = self._over = 0
        """Measured last: a place, the tokens before it, and bytes between them and it."""

    def tokens_through(self, place: int) -> int:
        """How many tokens lie wholly within the first `place` characters."""
        before, behind = self._seams.around(place)
        start, token = before or (0, 0)
        if self._place > place or self._place <= start:
            self._place, self._token, self._over = start, token, 0
        stop, token = behind or (len(self._text), len(self._ids))
        if place - self._place > stop - place:
            self._back(place, stop, token)
        else:
            self._forth(place)
        return self._token

    def _forth(self, place: int) -> None:
        token, over = self._token, self._over + self._bytes(self._place, place)
        ids, lengths, count = self._ids, self._lengths, len(self._ids)
        while token < count and (size := lengths[ids[token]]) <= over:
            token += 1
            over -= size
        self._place, self._token, self._over = place, token, over

    def _back(self, place: int, stop: int, token: int) -> None:
        left = self._bytes(place, stop)
        while left > 0 and token > self._token:
            token -= 1
            left -= self._lengths[self._ids[token]]
        self._place, self._token, self._over = place, token, -left

    def _bytes(self, begin: int, end: int) -> int:
        return len(self._text[begin:end].encode())
