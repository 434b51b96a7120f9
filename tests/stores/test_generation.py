"""Where the number of the last reset is kept: the same rules for a file and a server."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.stores.build import SPACE, chain
from tests.stores.servers import Server, running_server

from headstart.stores import StoreError, ValkeyStore, parse_url
from headstart.stores.generation import FileGeneration, Generation
from headstart.stores.valkey import GENERATION

FRESH = 1_700_000_000_000_000_000
NEVER = float("inf")
DAMAGE = [b"", b"\xff\x00", b"1 2", b"-1", b"9" * 30, b"x" * 10_000]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server(save="") as running:
        yield running


def remote(server: Server) -> ValkeyStore:
    return ValkeyStore(parse_url(f"valkey://127.0.0.1:{server.port}"), clock=lambda: 0.0)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Generation]:
    if request.param == "file":
        yield FileGeneration(tmp_path / "kv")
        return
    server = request.getfixturevalue("server")
    server.client().flushall()
    made = remote(server)
    yield made
    made.close()


def test_what_was_written_last_is_read(place: Generation) -> None:
    for number in (1, 2, 2**62):
        place.write_generation(number, deadline=NEVER)
        assert place.read_generation(FRESH, deadline=NEVER) == number


def test_a_later_number_is_not_replaced_by_an_earlier_one(place: Generation) -> None:
    place.write_generation(7, deadline=NEVER)
    place.write_generation(6, deadline=NEVER)
    assert place.read_generation(FRESH, deadline=NEVER) == 7


def test_a_folder_that_never_saw_a_reset_is_of_generation_0(tmp_path: Path) -> None:
    assert FileGeneration(tmp_path).read_generation(FRESH, deadline=NEVER) == 0
    assert FileGeneration(tmp_path / "no").read_generation(FRESH, deadline=NEVER) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_server_without_a_number_gets_one_that_never_was_and_all_agree_on_it(
    server: Server,
) -> None:
    """It may have had one, and given it up for want of memory."""
    server.client().flushall()
    one, other = remote(server), remote(server)
    assert one.read_generation(FRESH, deadline=NEVER) == FRESH
    assert other.read_generation(FRESH + 1, deadline=NEVER) == FRESH
    one.close()
    other.close()


@pytest.mark.parametrize("damage", DAMAGE, ids=repr)
def test_a_damaged_number_in_a_folder_becomes_one_that_never_was_and_stays_it(
    tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "generation").write_bytes(damage)
    assert FileGeneration(tmp_path).read_generation(FRESH, deadline=NEVER) == FRESH
    assert FileGeneration(tmp_path).read_generation(FRESH + 1, deadline=NEVER) == FRESH


@pytest.mark.parametrize("damage", DAMAGE, ids=repr)
def test_a_damaged_number_on_a_server_becomes_one_that_never_was_and_stays_it(
    server: Server, damage: bytes
) -> None:
    server.client().set(GENERATION, damage)
    place = remote(server)
    assert place.read_generation(FRESH, deadline=NEVER) == FRESH
    assert place.read_generation(FRESH + 1, deadline=NEVER) == FRESH
    place.close()


def test_something_else_under_the_numbers_name_is_replaced(server: Server) -> None:
    server.client().delete(GENERATION)
    server.client().lpush(GENERATION, "a list")
    place = remote(server)
    assert place.read_generation(FRESH, deadline=NEVER) == FRESH
    assert place.read_generation(FRESH + 1, deadline=NEVER) == FRESH
    place.close()


def test_a_number_that_can_neither_be_read_nor_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "generation").mkdir()
    with pytest.raises(StoreError):
        FileGeneration(tmp_path).read_generation(FRESH, deadline=NEVER)
    (tmp_path / "kv").write_text("a file")
    with pytest.raises(StoreError, match="kv"):
        FileGeneration(tmp_path / "kv").write_generation(1, deadline=NEVER)


@pytest.mark.slow
def test_asking_for_chunks_keeps_the_number_from_being_given_up(server: Server) -> None:
    """A server that is short of memory gives up what was not used for long."""
    client = server.client()
    client.flushall()
    client.config_set("maxmemory-policy", "allkeys-lru")
    place = remote(server)
    place.write_generation(5, deadline=NEVER)
    time.sleep(1.2)
    assert client.object("idletime", GENERATION) >= 1
    place.contains_many(SPACE, [chain(1)[0].key], deadline=NEVER)
    assert client.object("idletime", GENERATION) == 0
    place.close()
