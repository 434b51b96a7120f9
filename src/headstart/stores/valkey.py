"""Chunks on a Valkey or Redis server, shared by everybody who uses the same server.

One key holds one whole record, so a server that evicts can't leave half of one. The server bounds
its own memory (`maxmemory`, `allkeys-lru`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import unquote, urlsplit

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores.codec import Codec, Raw
from headstart.stores.counts import Counts
from headstart.stores.errors import Corrupt, Full, RecordError, Refused, StoreError
from headstart.stores.generation import parse_generation
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock, StoreStats
from headstart.stores.record import Record, encode, read_record
from headstart.stores.resp import Connection

GENERATION = b"headstart:generation"
"""The number of the last reset."""
MAX_VALUE = 16 << 20
"""Bytes. A larger value would keep a server with one thread from everybody else for too long."""
_MAX_IDLE = 8


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and how to log in."""

    host: str
    port: int = 6379
    database: int = 0
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def parse_url(url: str) -> Address:
    """Read `valkey://[[user]:password@]host[:port][/database]`, or the same with `redis://`.

    Raises ValueError, never with the password in its message.
    """
    parts = urlsplit(url)
    database = parts.path.strip("/")
    if parts.scheme not in ("valkey", "redis") or not parts.hostname or parts.query:
        raise ValueError("a remote store's URL is valkey://host:port/database")
    if database and not database.isdecimal():
        raise ValueError(f"the database is a number, not {database!r}")
    return Address(
        host=parts.hostname,
        port=parts.port or 6379,
        database=int(database or 0),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
    )


class ValkeyStore:
    """Connects when first used and whenever it must. `ttl` in seconds; None keeps until evicted."""

    def __init__(
        self,
        address: Address,
        *,
        clock: Clock,
        codec: Codec | None = None,
        ttl: int | None = None,
    ) -> None:
        self._address = address
        self._clock = clock
        self._codec = codec or Raw()
        self._expiry = () if ttl is None else (b"EX", b"%d" % ttl)
        self._counts = Counts()
        self._lock = Lock()
        self._idle: list[Connection] = []

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """See Store. One round trip."""
        with self._connection(deadline) as server:
            asked = [(b"EXISTS", _name(namespace, key)) for key in keys]
            # What is asked for every time isn't what a server that is short of memory gives up.
            server.send([(b"TOUCH", GENERATION), *asked], deadline)
            server.integer(deadline)
            return [server.integer(deadline) > 0 for _ in keys]

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """See Store. Damage is a miss, and the damaged value is deleted."""
        try:
            record = self._read(namespace, key, into, deadline)
        except RecordError as error:
            self._counts.add(error.reason)
            with suppress(StoreError):
                self.delete(namespace, key, deadline=deadline)
            return None
        self._counts.add("miss" if record is None else "hit")
        return record

    def put(self, record: Record, *, deadline: float) -> bool:
        """See Store."""
        header, stored = encode(record, self._codec)
        if len(header) + len(stored) > MAX_VALUE:
            self._counts.add("too_large")
            return False
        name = _name(record.namespace, record.key)
        try:
            with self._connection(deadline) as server:
                server.send([(b"SET", name, (header, stored), *self._expiry)], deadline)
                server.status(deadline)
        except Refused as error:
            if error.code != "OOM":
                raise
            self._counts.add(Full.reason)
            return False
        self._counts.add("stored")
        return True

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """See Store."""
        with self._connection(deadline) as server:
            server.send([(b"UNLINK", _name(namespace, key))], deadline)
            server.integer(deadline)

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """See Store. The server chooses by itself."""

    def read_generation(self, fresh: int, *, deadline: float) -> int:
        """See Generation. `fresh` also where there is none: the server may have given it up."""
        with self._connection(deadline) as server:
            server.send([(b"SETNX", GENERATION, b"%d" % fresh)], deadline)
            server.integer(deadline)
        try:
            return self._generation(deadline)
        except ValueError:
            self._set_generation(fresh, deadline)
            return fresh

    def write_generation(self, generation: int, *, deadline: float) -> None:
        """See Generation."""
        if self.read_generation(generation, deadline=deadline) < generation:
            self._set_generation(generation, deadline)

    def stats(self) -> StoreStats:
        """See Store. What the server holds is the server's to say."""
        return StoreStats(chunks=None, bytes=None, capacity=None, counts=self._counts.snapshot())

    def close(self) -> None:
        """See Store."""
        with self._lock:
            idle, self._idle = self._idle, []
        for server in idle:
            server.close()

    def _read(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None,
        deadline: float,
    ) -> Record | None:
        with self._connection(deadline) as server:
            server.send([(b"GET", _name(namespace, key))], deadline)
            try:
                length = server.bulk(deadline)
            except Refused as error:
                if error.code != "WRONGTYPE":
                    raise
                raise Corrupt("somebody keeps something else under this key") from error
            if length is None:
                return None
            record = read_record(
                lambda view: server.fill(view, deadline),
                length,
                namespace,
                key,
                into,
                codec=self._codec,
            )
            server.end_bulk(deadline)
        return record

    def _generation(self, deadline: float) -> int:
        """Raises ValueError where there is something else, or nothing."""
        with self._connection(deadline) as server:
            server.send([(b"GET", GENERATION)], deadline)
            try:
                length = server.bulk(deadline)
            except Refused as error:
                if error.code != "WRONGTYPE":
                    raise
                raise ValueError("somebody keeps something else under this key") from error
            text = bytearray(length or 0)
            if length is not None:
                server.fill(memoryview(text), deadline)
                server.end_bulk(deadline)
        return parse_generation(bytes(text))

    def _set_generation(self, generation: int, deadline: float) -> None:
        with self._connection(deadline) as server:
            server.send([(b"SET", GENERATION, b"%d" % generation)], deadline)
            server.status(deadline)

    @contextmanager
    def _connection(self, deadline: float) -> Iterator[Connection]:
        """A connection for one exchange, closed if anything goes wrong in it."""
        server = self._idle_connection() or self._open(deadline)
        try:
            yield server
        except BaseException:
            server.close()
            raise
        with self._lock:
            if len(self._idle) < _MAX_IDLE:
                self._idle.append(server)
                return
        server.close()

    def _idle_connection(self) -> Connection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                server = self._idle.pop()
            if server.is_quiet():
                return server
            server.close()

    def _open(self, deadline: float) -> Connection:
        address = self._address
        server = Connection(address.host, address.port, clock=self._clock, deadline=deadline)
        try:
            if address.password is not None:
                user = (address.user.encode(),) if address.user else ()
                server.send([(b"AUTH", *user, address.password.encode())], deadline)
                server.status(deadline)
            if address.database:
                server.send([(b"SELECT", b"%d" % address.database)], deadline)
                server.status(deadline)
        except BaseException:
            server.close()
            raise
        return server


def _name(namespace: PersistentNamespace, key: BlockKey) -> bytes:
    return f"headstart:{namespace.folder}:{key.hex()}".encode()
