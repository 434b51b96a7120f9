"""What a contract believes to be cached, tenant by tenant: keys of prefixes, and until when."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

MOST_ENTRIES = 1 << 16
"""Of one tenant; beyond it the ones used longest ago are forgotten, which is only a miss."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix that was written."""

    lifetime: str
    """As the vendor spells it."""
    seconds: float
    """Of life after each write or use."""
    expires: float


class Entries:
    """All entries of one contract. Times are seconds on the caller's clock."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._tenants: dict[str, OrderedDict[bytes, Entry]] = {}

    def find(self, tenant: str, key: bytes, now: float) -> Entry | None:
        """The live entry of `key`."""
        entries = self._tenants.get(tenant)
        entry = None if entries is None else entries.get(key)
        return entry if entry is not None and now < entry.expires else None

    def put(self, tenant: str, key: bytes, *, lifetime: str, seconds: float, now: float) -> None:
        """A prefix is written, or used again: its time begins anew, and never gets shorter.

        Each lifetime has its price, so one that lives keeps the lifetime that was paid for.
        """
        known = self.find(tenant, key, now)
        if known is None:
            new = Entry(lifetime, seconds, now + seconds)
        else:
            expires = max(known.expires, now + known.seconds)
            new = Entry(known.lifetime, known.seconds, expires)
        entries = self._of(tenant)
        entries[key] = new
        entries.move_to_end(key)
        self._shrink(entries)

    def put_all(
        self, tenant: str, keys: Iterable[bytes], *, lifetime: str, seconds: float, now: float
    ) -> None:
        """The same for many that nobody pays for: of two lifetimes they take what lasts longer.

        Give the longest first: what is named last is forgotten last.
        """
        entries = self._of(tenant)
        new = Entry(lifetime, seconds, now + seconds)
        expires = new.expires
        for key in keys:
            known = entries.get(key)
            if known is None or known.expires <= expires:
                entries[key] = new
            entries.move_to_end(key)
        self._shrink(entries)

    def count(self, tenant: str) -> int:
        """Entries of `tenant` that are remembered, dead ones included."""
        return len(self._tenants.get(tenant, ()))

    def clear(self) -> None:
        """Forget everything: the KV behind it is gone."""
        self._tenants.clear()

    def _of(self, tenant: str) -> OrderedDict[bytes, Entry]:
        return self._tenants.setdefault(tenant, OrderedDict())

    def _shrink(self, entries: OrderedDict[bytes, Entry]) -> None:
        while len(entries) > self._most:
            entries.popitem(last=False)
