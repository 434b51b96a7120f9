"""A server that dies, hangs, dawdles, forgets and lies: every answer right, none late."""

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tests.stores.build import NEVER, OTHER, SPACE, chain, chunk
from tests.stores.servers import Server, listening, running_server

from headstart.stores import Address, Breaker, Guarded, Record, State, ValkeyStore, parse_url
from headstart.stores.errors import Late, Refused, Unavailable

SOON = 0.2
"""Seconds a call is given where it should fail."""
SLACK = 2.0
"""Seconds by which a busy machine may be late itself."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    shared.client().flushall()
    return shared


@pytest.fixture
def mortal() -> Iterator[Server]:
    with running_server() as server:
        yield server


def store_on(port: int, **options: int) -> ValkeyStore:
    return ValkeyStore(Address("127.0.0.1", port), clock=time.monotonic, **options)


def name_of(server: Server, record: Record) -> bytes:
    (name,) = server.client().keys(f"*{record.key.hex()}")
    return bytes(name)


def in_time(call: Callable[[float], object], seconds: float = SOON) -> object:
    """The call's outcome, its exception or its answer; the test fails if it comes late."""
    began = time.monotonic()
    try:
        outcome = call(began + seconds)
    except (Late, Unavailable, Refused) as error:
        outcome = error
    assert time.monotonic() - began < seconds + SLACK
    return outcome


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("valkey://cache", Address("cache")),
        ("redis://10.0.0.1:7000/3", Address("10.0.0.1", 7000, 3)),
        ("valkey://[::1]:7000/", Address("::1", 7000)),
        ("valkey://:p%40ss@cache", Address("cache", password="p@ss")),
        ("valkey://ann:secret@cache", Address("cache", user="ann", password="secret")),
    ],
)
def test_a_url_says_where_the_server_is(url: str, address: Address) -> None:
    assert parse_url(url) == address


@pytest.mark.parametrize(
    "url",
    ["http://x", "valkey://", "valkey://x/abc", "valkey://x:1/2?a=b", "valkey://u:pw@x/y", ""],
)
def test_another_url_is_refused_without_saying_the_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"valkey://host|database") as caught:
        parse_url(url)
    assert "pw" not in str(caught.value)
    assert "secret" not in repr(Address("x", password="secret"))


def test_names_and_databases_and_passwords_work() -> None:
    with running_server() as server:
        server.client().config_set("requirepass", "secret")
        url = f"valkey://:secret@localhost:{server.port}/3"
        store = ValkeyStore(parse_url(url), clock=time.monotonic)
        record = chunk()
        assert store.put(record, deadline=NEVER)
        assert store.get(SPACE, record.key, deadline=NEVER) == record
        wrong = ValkeyStore(parse_url(url.replace("secret", "wrong")), clock=time.monotonic)
        with pytest.raises(Refused, match="WRONGPASS"):
            wrong.get(SPACE, record.key, deadline=NEVER)
        with pytest.raises(Refused, match="NOAUTH"):
            store_on(server.port).get(SPACE, record.key, deadline=NEVER)
        store.close()


def test_many_keys_are_looked_up_in_one_round_trip(server: Server) -> None:
    store = store_on(server.port)
    records = [chunk(seed=seed, size=10) for seed in range(500)]
    for record in records[::5]:
        store.put(record, deadline=NEVER)
    keys = [record.key for record in records]
    began = time.monotonic()
    found = store.contains_many(SPACE, keys, deadline=NEVER)
    assert found == [i % 5 == 0 for i in range(500)]
    assert time.monotonic() - began < 0.5


def test_an_expired_chunk_is_a_miss(server: Server) -> None:
    store = store_on(server.port, ttl=1000)
    record = chunk()
    store.put(record, deadline=NEVER)
    assert 990 < server.client().ttl(name_of(server, record)) <= 1000
    server.client().pexpire(name_of(server, record), 1)
    time.sleep(0.01)
    assert store.get(SPACE, record.key, deadline=NEVER) is None


def test_a_value_over_sixteen_mib_is_never_sent(server: Server) -> None:
    store = store_on(server.port)
    assert store.put(chunk(size=(16 << 20) - 4096), deadline=NEVER)
    assert not store.put(chunk(seed=1, size=(16 << 20) - 4095), deadline=NEVER)
    assert store.stats().counts["too_large"] == 1
    assert server.client().dbsize() == 1


@pytest.mark.parametrize("length", [0, 1, 7, 4095, 4096, 9000])
def test_a_short_value_is_a_miss_and_deleted(server: Server, length: int) -> None:
    store = store_on(server.port)
    record, other = chunk(), chunk(seed=1)
    store.put(record, deadline=NEVER)
    store.put(other, deadline=NEVER)
    name = name_of(server, record)
    server.client().set(name, server.client().get(name)[:length])
    assert store.get(SPACE, record.key, deadline=NEVER) is None
    assert not server.client().exists(name)
    assert store.get(SPACE, other.key, deadline=NEVER) == other


def test_lies_by_another_client_are_misses_and_deleted(server: Server) -> None:
    store, client = store_on(server.port), server.client()
    mine, theirs, later = chunk(), chunk(space=OTHER), chunk(seed=1)
    for record in (mine, theirs, later):
        store.put(record, deadline=NEVER)
    name = name_of(server, mine)
    lies: list[Callable[[], object]] = [
        lambda: client.set(name, client.get(name_of(server, later))),
        lambda: client.set(name, client.get(name_of(server, theirs))),
        lambda: client.set(name, b"\r\n$5\r\nhello\r\n" * 1000),
        lambda: client.set(name, bytes(17 << 20)),
        lambda: (client.delete(name), client.rpush(name, "a", "b")),
        lambda: (client.delete(name), client.hset(name, "a", "b")),
    ]
    for lie in lies:
        lie()
        assert store.get(SPACE, mine.key, deadline=NEVER) is None
        assert not client.exists(name)
        store.put(mine, deadline=NEVER)
        assert store.get(SPACE, mine.key, deadline=NEVER) == mine
    assert store.get(SPACE, later.key, deadline=NEVER) == later


def test_a_server_that_is_full_declines_and_still_answers() -> None:
    with running_server(maxmemory="3mb", **{"maxmemory-policy": "noeviction"}) as server:
        store = store_on(server.port)
        records = [chunk(seed=seed, size=500_000) for seed in range(8)]
        results = [store.put(record, deadline=NEVER) for record in records]
        assert results[0] is True
        assert results[-1] is False
        assert store.stats().counts["full"] >= 1
        assert store.get(SPACE, records[0].key, deadline=NEVER) == records[0]


def test_a_server_that_evicts_serves_whole_chunks_or_none() -> None:
    with running_server(maxmemory="6mb", **{"maxmemory-policy": "allkeys-lru"}) as server:
        store = store_on(server.port)
        records = chain(30, size=300_000)
        for record in records:
            assert store.put(record, deadline=NEVER)
        found = [store.get(SPACE, record.key, deadline=NEVER) for record in records]
        assert None in found
        assert any(found)
        assert all(got in (None, record) for got, record in zip(found, records, strict=True))


def test_a_killed_server_fails_fast_and_is_used_again_after_a_restart(mortal: Server) -> None:
    store = store_on(mortal.port)
    record = chunk(size=100_000)
    store.put(record, deadline=NEVER)
    mortal.kill()
    for _ in range(3):
        assert isinstance(
            in_time(lambda deadline: store.get(SPACE, record.key, deadline=deadline)), Unavailable
        )
    mortal.restart()
    assert store.get(SPACE, record.key, deadline=NEVER) is None
    assert store.put(record, deadline=NEVER)
    assert store.get(SPACE, record.key, deadline=NEVER) == record


def test_connections_left_over_from_before_a_restart_cost_no_call(mortal: Server) -> None:
    store = store_on(mortal.port)
    record = chunk(size=2_000_000)
    threads = [threading.Thread(target=lambda: store.put(record, deadline=NEVER)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mortal.kill()
    mortal.restart()
    for _ in range(6):
        assert store.put(record, deadline=NEVER)


def test_a_frozen_server_costs_the_deadline_then_nothing_and_is_used_again(
    mortal: Server,
) -> None:
    now = [0.0]
    store = Guarded(
        "remote", store_on(mortal.port), Breaker(), clock=lambda: time.monotonic() + now[0]
    )
    record = chunk(size=1_000_000)

    def get(deadline: float) -> object:
        return store.get(SPACE, record.key, deadline=deadline)

    assert store.put(record, deadline=NEVER)
    assert get(NEVER) == record
    mortal.freeze()
    for _ in range(50):
        assert in_time(get, 0.05) is None
    assert store.state is State.OPEN
    assert store.stats().counts["late"] == 5
    mortal.thaw()
    now[0] += 10
    assert get(NEVER) == record
    assert store.state is State.CLOSED


@pytest.mark.parametrize("call", ["contains_many", "get", "put", "delete"])
def test_every_call_on_a_frozen_server_ends_in_time(mortal: Server, call: str) -> None:
    store = store_on(mortal.port)
    record = chunk(size=15_000_000)
    assert store.put(record, deadline=NEVER)
    mortal.freeze()
    calls: dict[str, Callable[[float], object]] = {
        "contains_many": lambda end: store.contains_many(SPACE, [record.key], deadline=end),
        "get": lambda end: store.get(SPACE, record.key, deadline=end),
        "put": lambda end: store.put(record, deadline=end),
        "delete": lambda end: store.delete(SPACE, record.key, deadline=end),
    }
    for _ in range(2):
        assert isinstance(in_time(calls[call]), Late)


def test_a_server_that_sends_a_byte_now_and_then_cannot_stretch_a_call() -> None:
    def drip(opened: socket.socket) -> None:
        opened.recv(4096)
        for byte in b"$100000\r\n" + bytes(1000):
            opened.sendall(bytes([byte]))
            time.sleep(0.02)

    with listening(drip) as port:
        store = store_on(port)
        assert isinstance(in_time(lambda end: store.get(SPACE, chunk().key, deadline=end)), Late)


def test_a_server_that_accepts_and_says_nothing_costs_the_deadline() -> None:
    with listening(lambda opened: time.sleep(5)) as port:
        store = store_on(port)
        for _ in range(2):
            outcome = in_time(lambda end: store.contains_many(SPACE, [chunk().key], deadline=end))
            assert isinstance(outcome, Late)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"hello\r\n",
        b":1\r\n",
        b"$abc\r\n",
        b"$-\r\n",
        b"$--5\r\n",
        b"$" + b"9" * 5000 + b"\r\n",
        b"$5\r\nhel",
        b"*1\r\n$1\r\na\r\n",
        b"\xff" * 100_000,
        b"-LOADING Valkey is loading the dataset in memory\r\n",
        b"-MOVED 1 127.0.0.1:7000\r\n",
    ],
)
def test_a_server_that_talks_nonsense_is_an_error_and_no_hit(reply: bytes) -> None:
    def babble(opened: socket.socket) -> None:
        opened.recv(4096)
        opened.sendall(reply)

    with listening(babble) as port:
        store = store_on(port)
        outcome = in_time(lambda end: store.get(SPACE, chunk().key, deadline=end), 1)
        assert outcome is None or isinstance(outcome, Unavailable | Refused)


def test_a_reply_meant_for_another_question_is_never_taken(server: Server) -> None:
    """A call that ran out of time closes its connection: its reply can't answer the next one."""
    store = store_on(server.port)
    first, second = chunk(seed=1, size=9_000_000), chunk(seed=2, size=9_000_000)
    for record in (first, second):
        store.put(record, deadline=NEVER)
    late = 0
    for i in range(40):
        record = (first, second)[i % 2]
        try:
            found = store.get(SPACE, record.key, deadline=time.monotonic() + 0.0002 * i)
            assert found == record
        except Late:
            late += 1
    assert late > 0
    assert store.get(SPACE, first.key, deadline=NEVER) == first


def test_closing_lets_go_of_the_sockets(server: Server) -> None:
    store = store_on(server.port)
    before = len(server.client().client_list())
    store.contains_many(SPACE, [], deadline=NEVER)
    store.contains_many(SPACE, [chunk().key], deadline=NEVER)
    store.close()
    patience = time.monotonic() + 5
    while len(server.client().client_list()) > before:
        assert time.monotonic() < patience
        time.sleep(0.01)
