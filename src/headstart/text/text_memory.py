"""All remembered texts: a shelf for each scope, one budget, safe for threads."""

from array import array
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from headstart.text.remembered import Cut, Match, Remembered, shared_length
from headstart.text.shelf import PrefixKeys, Shelf

_MOST_SEEN = 4
"""So many texts whose keys promise more than is true are compared before a search ends."""


class TextMemory:
    """Scopes never see each other's texts, and one that keeps to its share of the budget doesn't
    lose any to one that takes more. The lock is held for a look-up in a dict, or to put a text
    away, not while texts are compared.
    """

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` bounds texts, ids, seams and keys of all scopes together."""
        self._max_bytes = max_bytes
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._lock = Lock()
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes."""
        return self._nbytes

    def longest(self, scope: str, text: str, lengths: Iterable[int]) -> Match | None:
        """The remembered text that shares most with `text`, but for less than a stride.

        `lengths` are the prefixes of `text` to look for, the longest first.
        """
        best: Match | None = None
        seen: set[Remembered] = set()
        key_of = PrefixKeys(text)
        for length in lengths:
            if best is not None and best.shared >= length:
                break
            key = key_of(length)
            with self._lock:
                shelf = self._shelves.get(scope)
                entry = None if shelf is None else shelf.by_prefix(key)
            if entry is None or entry in seen:
                continue
            seen.add(entry)
            shared = shared_length(text, entry.text)
            if best is None or shared > best.shared:
                best = Match(entry, shared)
            if len(seen) == _MOST_SEEN:
                break
        return best

    def prompt(self, scope: str, ids: "array[int]") -> tuple[Remembered, Cut] | None:
        """The text that was encoded to `ids`, as a prefix of what is remembered of it now."""
        with self._lock:
            shelf = self._shelves.get(scope)
            entry = None if shelf is None else shelf.by_ids(ids)
        if entry is None:
            return None
        for stop in reversed(entry.stops):
            if stop.tokens == len(ids) and entry.ids[: stop.tokens] == ids:
                return entry, stop
        return None

    def put(self, scope: str, entry: Remembered, base: Remembered | None = None) -> None:
        """Remember `entry`, in place of `base`, which it extends, if that is given.

        A text that would not fit into the budget by itself is not kept.
        """
        if entry.nbytes > self._max_bytes // 2:
            return
        with self._lock:
            shelf = self._shelves.setdefault(scope, Shelf())
            self._shelves.move_to_end(scope)
            self._nbytes -= shelf.nbytes
            shelf.put(entry, base)
            self._nbytes += shelf.nbytes
            while self._nbytes > self._max_bytes:
                self._drop_one(scope)

    def _drop_one(self, grown: str) -> None:
        """The oldest text of the idlest scope that has more than its share, not the one just put.

        There is such a scope whenever the budget is exceeded, unless that text is all it has.
        """
        share = self._max_bytes // len(self._shelves)
        others = [name for name in self._shelves if name != grown or len(self._shelves[name]) > 1]
        scope = next((name for name in others if self._shelves[name].nbytes > share), others[0])
        shelf = self._shelves[scope]
        self._nbytes -= shelf.nbytes
        shelf.drop_oldest()
        self._nbytes += shelf.nbytes
        if not shelf:
            del self._shelves[scope]
