"""What a contract believes to be cached, tenant by tenant: keys of prefixes, and until when."""

from collections import OrderedDict
from dataclasses import dataclass

MOST_ENTRIES = 1 << 16
"""Of one tenant; beyond it the ones used longest ago are forgotten, which is only a miss."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix that was written."""

    tokens: int
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

    def put(
        self, tenant: str, key: bytes, *, tokens: int, lifetime: str, seconds: float, now: float
    ) -> None:
        """A prefix is written, or used again: its time begins anew, and never gets shorter."""
        entries = self._tenants.setdefault(tenant, OrderedDict())
        known = self.find(tenant, key, now)
        expires = now + seconds
        if known is not None and known.expires > expires:
            lifetime, seconds, expires = known.lifetime, known.seconds, known.expires
        entries[key] = Entry(tokens, lifetime, seconds, expires)
        entries.move_to_end(key)
        while len(entries) > self._most:
            entries.popitem(last=False)

    def count(self, tenant: str) -> int:
        """Entries of `tenant` that are remembered, dead ones included."""
        return len(self._tenants.get(tenant, ()))

    def clear(self) -> None:
        """Forget everything: the KV behind it is gone."""
        self._tenants.clear()
