"""Every store passes the same suite."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.stores.build import Clock, disk_store, folder_store, path_of
from tests.stores.conformance import Conformance, Subject
from tests.stores.servers import Server, running_server

from headstart.stores import Address, Breaker, Guarded, RamStore, Record, ValkeyStore, Zstd
from headstart.stores.codec import Codec, Raw


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def in_memory(codec: Codec) -> Subject:
    arena = memoryview(bytearray(4 << 20))
    store = RamStore(arena, clock=Clock(), codec=codec)

    def tamper(record: Record, change: Callable[[bytes], bytes]) -> None:
        place = store._index._rows[record.key].place
        stored = arena[place.start : place.start + place.length]
        stored[:] = change(bytes(stored))

    return Subject(store, tamper)


def on_disk(root: Path, kind: str, codec: Codec) -> Subject:
    make = disk_store if kind == "disk" else folder_store

    def tamper(record: Record, change: Callable[[bytes], bytes]) -> None:
        path = path_of(root, record)
        path.write_bytes(change(path.read_bytes()))

    return Subject(make(root, Clock(), codec=codec), tamper)


def remote(server: Server, codec: Codec) -> Subject:
    client = server.client()
    client.flushall()

    def tamper(record: Record, change: Callable[[bytes], bytes]) -> None:
        (name,) = client.keys(f"*:{record.namespace.folder}:{record.key.hex()}")
        client.set(name, change(client.get(name)))

    address = Address("127.0.0.1", server.port)
    return Subject(ValkeyStore(address, clock=time.monotonic, codec=codec), tamper)


KINDS = ["ram", "disk", "folder", "valkey", "ram zstd", "disk zstd", "valkey zstd", "guarded disk"]


class TestEveryStore(Conformance):
    @pytest.fixture(params=KINDS)
    def subject(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
        match request.param.split():
            case ["guarded", kind]:
                inner = on_disk(tmp_path, kind, Raw())
                guarded = Guarded("disk", inner.store, Breaker(), clock=Clock())
                subject = Subject(guarded, inner.tamper, never_raises=True)
            case [kind, *zstd]:
                codec: Codec = Zstd() if zstd else Raw()
                if kind == "ram":
                    subject = in_memory(codec)
                elif kind == "valkey":
                    subject = remote(request.getfixturevalue("server"), codec)
                else:
                    subject = on_disk(tmp_path, kind, codec)
        yield subject
        subject.store.close()
