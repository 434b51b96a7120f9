"""The remembered texts of one scope, found by their beginning or by their ids.

A text is registered under some of its prefixes: at every multiple of `STRIDE` characters, at its
end, and where an answer ended. A key hashes the prefix's length, its first and its last characters,
so that a look-up costs the same for any number of texts; what it finds has to be compared.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from headstart.text.remembered import Remembered

STRIDE = 512
_HEAD, _WINDOW, _IDS = 256, 64, 16
_KEY_BYTES = 150
"""A key in a dict and in the set it is forgotten by, with the slack of both."""


class PrefixKeys:
    """Keys of one text's prefixes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._head = hash(text[:_HEAD])

    def __call__(self, length: int) -> int:
        """The key of the first `length` characters."""
        head = self._head if length >= _HEAD else hash(self._text[:length])
        return hash((length, head, self._text[max(length - _WINDOW, 0) : length]))


@dataclass(slots=True)
class _Slot:
    """Where a text lies. A longer one that begins with it takes its place, and its keys."""

    entry: Remembered
    prefix_keys: set[int] = field(default_factory=set)
    ids_keys: set[int] = field(default_factory=set)

    nbytes: int = 0
    """As counted when it was put: a text grows when something asks for its UTF-8."""

    def count(self) -> None:
        """Count the bytes again."""
        keys = len(self.prefix_keys) + len(self.ids_keys)
        self.nbytes = self.entry.nbytes + _KEY_BYTES * keys


class Shelf:
    """Remembered texts, the least recently used first. Not thread-safe."""

    def __init__(self) -> None:
        self._slots: OrderedDict[Remembered, _Slot] = OrderedDict()
        self._by_prefix: dict[int, _Slot] = {}
        self._by_ids: dict[int, _Slot] = {}
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._slots)

    def by_prefix(self, key: int) -> Remembered | None:
        """The latest text with a prefix of this key (see `PrefixKeys`), most likely."""
        slot = self._by_prefix.get(key)
        return None if slot is None else slot.entry

    def by_ids(self, ids: "array[int]") -> Remembered | None:
        """The latest text that had these ids, or was extended from one, most likely."""
        slot = self._by_ids.get(_ids_key(ids, len(ids)))
        return None if slot is None else slot.entry

    def put(self, entry: Remembered, base: Remembered | None) -> None:
        """Keep `entry`, in place of `base` if that is given and still here.

        `entry.text` must begin with `base.text`.
        """
        slot = self._slots.pop(base, None) if base is not None else None
        done = 0
        if slot is None:
            slot = _Slot(entry)
        else:
            self.nbytes -= slot.nbytes
            done = len(slot.entry.text)
            slot.entry = entry
        key_of = PrefixKeys(entry.text)
        for length in _registered(entry, done):
            _register(self._by_prefix, key_of(length), slot, slot.prefix_keys)
        for stop in entry.stops[-1:]:
            _register(self._by_ids, _ids_key(entry.ids, stop.tokens), slot, slot.ids_keys)
        self._slots[entry] = slot
        slot.count()
        self.nbytes += slot.nbytes

    def drop_oldest(self) -> None:
        """Forget the least recently used text."""
        _, slot = self._slots.popitem(last=False)
        self.nbytes -= slot.nbytes
        _unregister(self._by_prefix, slot, slot.prefix_keys)
        _unregister(self._by_ids, slot, slot.ids_keys)


def _registered(entry: Remembered, done: int) -> Iterator[int]:
    """The prefixes to register, where those of the first `done` characters are already."""
    yield from range(done // STRIDE * STRIDE + STRIDE, len(entry.text) + 1, STRIDE)
    yield from (answer.characters for answer in entry.answers)
    yield len(entry.text)


def _ids_key(ids: "array[int]", length: int) -> int:
    return hash((length, ids[max(length - _IDS, 0) : length].tobytes()))


def _register(keys: dict[int, _Slot], key: int, slot: _Slot, registered: set[int]) -> None:
    keys[key] = slot
    registered.add(key)


def _unregister(keys: dict[int, _Slot], slot: _Slot, registered: set[int]) -> None:
    for key in registered:
        if keys.get(key) is slot:
            del keys[key]
