"""What is remembered of resets. The wall clock counts from 1,000."""

import itertools
import threading
import time

import pytest

from headstart.engine import resets as module
from headstart.engine.resets import Resets
from headstart.stores.errors import Unavailable

LONG = 20.0


class Place:
    """Keeps a number, unless it is down. `lossy`: as a server that may have given it up."""

    def __init__(self, number: int | None = None, *, lossy: bool = False) -> None:
        self.number = number
        self.down = False
        self.lossy = lossy
        self.closed = False
        self.tried = threading.Event()

    def read_generation(self, fresh: int, *, deadline: float) -> int:
        self.tried.set()
        if self.down:
            raise Unavailable("down")
        if self.number is None and self.lossy:
            self.number = fresh
        return self.number or 0

    def write_generation(self, generation: int, *, deadline: float) -> None:
        if self.read_generation(generation, deadline=deadline) < generation:
            self.number = generation

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(module, "BETWEEN_TRIES", 0.001)


TIME = itertools.count(1000)


def server(own: Place | None = None, shared: Place | None = None) -> Resets:
    return Resets(own=own, shared=shared, clock=time.monotonic, wall_ns=lambda: next(TIME))


def reset(resets: Resets) -> int:
    generation = resets.fresh()
    resets.remember(generation)
    return generation


def test_without_a_place_counting_begins_at_0() -> None:
    resets = server()
    assert resets.begin() == 0
    reset(resets)
    resets.close()


@pytest.mark.parametrize("which", ["own", "shared", "both"])
def test_a_restart_goes_on_where_the_last_reset_was(which: str) -> None:
    places = {name: Place() for name in ("own", "shared") if which in (name, "both")}
    first = server(**places)
    assert first.begin() == 0
    generation = reset(first)
    first.close()
    assert server(**places).begin() == generation


def test_two_servers_that_share_a_remote_never_have_each_others_number() -> None:
    shared = Place()
    one, other = server(shared=shared), server(shared=shared)
    assert one.begin() == other.begin() == 0
    assert reset(one) != reset(other)


def test_a_reset_of_one_server_is_not_undone_when_it_or_another_starts() -> None:
    shared = Place()
    one, other = server(shared=shared), server(shared=shared)
    one.begin()
    other.begin()
    generation = reset(one)
    assert server(shared=shared).begin() == generation
    later = reset(other)
    assert server(shared=shared).begin() == later > generation


def test_servers_that_start_at_a_remote_without_a_number_agree_on_one() -> None:
    shared = Place(lossy=True)
    begun = server(shared=shared).begin()
    assert begun >= 1000
    assert server(shared=shared).begin() == begun


def test_a_server_with_a_disk_brings_its_number_to_a_remote_that_has_none() -> None:
    """A remote that lost everything is no reason to forget what is on the disk."""
    own, shared = Place(7), Place(lossy=True)
    assert server(own, shared).begin() == 7
    assert shared.number == 7


def test_a_disk_learns_of_the_reset_that_its_server_took_over() -> None:
    own, shared = Place(7), Place(9)
    assert server(own, shared).begin() == 9
    assert own.number == 9
    shared.down = True
    assert server(own, shared).begin() == 9


def test_a_remote_learns_of_the_reset_that_only_the_disk_knows() -> None:
    own, shared = Place(9), Place(7)
    assert server(own, shared).begin() == 9
    assert shared.number == 9


def test_with_a_disk_a_remote_that_is_down_changes_nothing() -> None:
    own, shared = Place(7), Place(9)
    shared.down = True
    assert server(own, shared).begin() == 7
    assert own.number == 7


def test_without_a_disk_and_with_the_remote_down_nothing_from_before_is_used() -> None:
    shared = Place(9)
    shared.down = True
    begun = server(shared=shared).begin()
    assert begun >= 1000
    shared.down = False
    assert shared.number == 9  # Others are not concerned.


def test_a_disk_that_can_not_be_read_brings_nothing_back() -> None:
    own = Place(9)
    own.down = True
    assert server(own).begin() >= 1000
    assert server(own, Place(9)).begin() >= 1000


def test_a_remote_that_is_down_at_a_reset_is_told_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shared = Place()
    resets = server(shared=shared)
    resets.begin()
    shared.down = True
    reset(resets)
    assert "restart may find old KV" in caplog.text
    last = reset(resets)
    shared.down = False
    until = time.monotonic() + LONG
    while shared.number != last and time.monotonic() < until:
        time.sleep(0.005)
    assert shared.number == last
    resets.close()
    assert shared.closed


def test_the_last_chance_to_tell_a_remote_is_when_the_server_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", LONG)
    shared = Place()
    resets = server(shared=shared)
    resets.begin()
    shared.down = True
    generation = reset(resets)
    shared.down = False
    resets.close()
    assert shared.number == generation


def test_a_server_ends_though_its_remote_never_comes_back() -> None:
    shared = Place()
    resets = server(shared=shared)
    resets.begin()
    shared.down = True
    reset(resets)
    begun = time.monotonic()
    resets.close()
    assert time.monotonic() - begun < 2
    assert shared.number is None


def test_a_reset_is_written_to_the_disk_before_it_is_answered_also_without_the_remote() -> None:
    own, shared = Place(), Place()
    resets = server(own, shared)
    resets.begin()
    shared.down = True
    generation = reset(resets)
    assert own.number == generation
    resets.close()
