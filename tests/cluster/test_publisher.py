"""The publisher against sockets, without a model."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
import zmq
from tests.cluster.conftest import Place
from tests.cluster.listener import END, Listener
from tests.cluster.vllm_schema import AllBlocksCleared, decode

from headstart.cache import BlockKey, Event, Namespace, Removed, Stored
from headstart.cluster.errors import CannotPublish
from headstart.cluster.kv_events import Wire
from headstart.cluster.publisher import Publisher
from headstart.cluster.sockets import claim

NAMESPACE = Namespace(
    weights=b"w", adapter=None, tenant="", salt=None, dtype="d", layout="l", rope="r", block_size=1
)
WIRE = Wire("CPU", {})
Listen = Callable[..., Listener]


def block(number: int) -> Stored:
    """One block that begins a prompt; its hash is `number`."""
    return Stored(NAMESPACE, None, [BlockKey(number.to_bytes(32, "big"))], b"\0\0\0\0")


@contextmanager
def published(place: Place, wire: Wire = WIRE, **options: Any) -> Iterator[Publisher]:
    publisher = Publisher(claim(place.events, place.replay), wire, **options)
    try:
        yield publisher
    finally:
        publisher.close()


@contextmanager
def reader(place: Place, topic: bytes = b"") -> Iterator["zmq.Socket[bytes]"]:
    """A bare subscription."""
    context = zmq.Context()
    try:
        sub = context.socket(zmq.SUB)
        sub.set_hwm(1)
        sub.subscribe(topic)
        sub.connect(place.events)
        yield sub
    finally:
        context.destroy(linger=0)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def subscribed(publisher: Publisher, listener: Listener, number: int = 1_000_000) -> None:
    """Publish until the listener hears it: then nothing is missed any more."""
    deadline = time.monotonic() + 10
    while not listener.heard:
        assert time.monotonic() < deadline, "the listener hears nothing"
        publisher.publish([block(number)])
        publisher.publish([Removed(block(number).keys)])
        listener.read(0.01)
    listener.catch_up()


class Stuck(threading.Event):
    """Stands for a wire that writes only once it is set."""

    def payload(self, seconds: float, events: Sequence[Event]) -> bytes:
        assert self.wait(10)
        return WIRE.payload(seconds, events)


def test_a_batch_is_three_frames_with_a_big_endian_number_from_zero(place: Place) -> None:
    with (
        published(place, topic="kv@pod@model", wall=lambda: 12.5) as publisher,
        reader(place, b"kv@") as sub,
    ):
        until(lambda: publisher.publish([block(5)]) is None and sub.poll(10) != 0)
        topic, number, payload = sub.recv_multipart()
        last = publisher.next_seq - 1
    batch = decode(payload)
    assert topic == b"kv@pod@model"
    assert len(number) == 8
    assert 0 <= int.from_bytes(number, "big") <= last
    assert (batch.ts, batch.data_parallel_rank) == (12.5, 0)


def test_the_first_batch_says_that_nothing_is_findable(place: Place, listen: Listen) -> None:
    with published(place):
        listener = listen()
        listener.replay()
    assert listener.last == 0
    assert decode(listener.frames[3]).events == [AllBlocksCleared()]


def test_who_listens_hears_what_is_published(place: Place, listen: Listen) -> None:
    with published(place) as publisher:
        listener = listen()
        subscribed(publisher, listener)
        listener.frames.clear()
        for number in range(100):
            publisher.publish([block(number)])
        until(lambda: listener.read() is None and len(listener.blocks) == 100)
        assert not listener.lost
        assert len(listener.frames) == 300, "none was asked for again"


def test_a_slow_joiner_asks_for_what_it_has_missed(place: Place, listen: Listen) -> None:
    with published(place) as publisher:
        for number in range(50):
            publisher.publish([block(number)])
        listener = listen()
        listener.replay()
        assert set(listener.blocks) == set(range(50))


def test_a_gap_is_filled_by_a_replay_from_the_first_missing_number(
    place: Place, listen: Listen
) -> None:
    with published(place) as publisher:
        listener = listen()
        subscribed(publisher, listener)
        for number in range(3):
            publisher.publish([block(number)])
        listener.catch_up()
        known = listener.last
        listener._sub.disconnect(place.events)
        for number in range(3, 6):
            publisher.publish([block(number)])
        listener._sub.connect(place.events)
        listener.heard = 0
        subscribed(publisher, listener, 77)
        assert set(listener.blocks) == set(range(6))
        assert listener.last > known + 3
        assert not listener.lost


def test_more_than_is_kept_cannot_be_replayed_and_the_numbers_say_so(
    place: Place, listen: Listen
) -> None:
    with published(place, kept=5) as publisher:
        for number in range(20):
            publisher.publish([block(number)])
        listener = listen()
        listener.replay()
        assert (listener.lost, listener.last) == (True, 20)


def test_a_replay_from_the_future_is_only_its_end(place: Place, listen: Listen) -> None:
    with published(place):
        listener = listen()
        listener.last = 2**64 - 2
        listener.replay()
        assert listener.frames == [b"", b"", END, b""]


@pytest.mark.parametrize("request_", [[b""], [b"", b"short"], [b"x", b"\0" * 8], [b"", b"", b""]])
def test_a_malformed_request_gets_no_answer_and_harms_nobody(
    place: Place, listen: Listen, request_: list[bytes]
) -> None:
    with published(place):
        listener = listen()
        assert listener._replay is not None
        listener._replay.send_multipart(request_)
        listener.replay()
        assert listener.last == 0
        assert listener.frames[-3:] == [b"", END, b""]


def test_a_request_of_a_megabyte_ends_only_its_own_connection(place: Place, listen: Listen) -> None:
    with published(place):
        rude, polite = listen(), listen()
        assert rude._replay is not None
        rude._replay.send_multipart([b"", b"x" * (1 << 20)])
        polite.replay()
        assert polite.last == 0


def test_a_thread_that_hangs_delays_no_publishing_and_drops_the_oldest(
    place: Place, listen: Listen
) -> None:
    stuck = Stuck()
    with ExitStack() as stack:
        publisher = stack.enter_context(published(place, stuck, waiting=100))  # type: ignore[arg-type]
        stack.callback(stuck.set)
        begin = time.monotonic()
        for number in range(20_000):
            publisher.publish([block(number)])
        assert time.monotonic() - begin < 2
        assert publisher.next_seq == 20_001
        # But for the 100 that wait and the few that were taken at first.
        assert 19_000 < publisher.dropped <= 20_001 - 100
        stuck.set()
        listener = listen()
        until(lambda: listener.replay() is None and listener.last == 20_000)
        assert listener.lost, "the numbers have a gap"


def test_a_consumer_that_hangs_holds_up_neither_others_nor_the_end(
    place: Place, listen: Listen
) -> None:
    with published(place) as publisher, reader(place) as hung:
        until(lambda: publisher.publish([Removed([])]) is None and hung.poll(10) != 0)
        listener = listen()
        subscribed(publisher, listener)
        for number in range(12_000):
            publisher.publish([block(number)])
            if number % 1000 == 999:
                until(lambda: listener.catch_up().last == publisher.next_seq - 1)
        assert len(listener.blocks) == 12_000
        begin = time.monotonic()
        publisher.close()
        assert time.monotonic() - begin < 1.5


def test_closing_says_that_nothing_is_findable_any_more(place: Place, listen: Listen) -> None:
    with published(place) as publisher:
        listener = listen()
        subscribed(publisher, listener)
        publisher.publish([block(5)])
        publisher.close()
    until(lambda: listener.read() is None and listener.last == publisher.next_seq - 1)
    assert not listener.blocks


def test_closing_twice_and_publishing_afterwards_do_nothing(place: Place) -> None:
    with published(place) as publisher:
        publisher.close()
        publisher.close()
        publisher.publish([block(1)])


def test_a_closed_publisher_leaves_its_addresses_and_no_file_open(place: Place) -> None:
    with published(place):
        pass
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with published(place) as publisher:
            publisher.publish([block(1)])
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_batch_that_cannot_be_written_is_a_gap_and_the_next_one_is_sent(
    place: Place, listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = replace(NAMESPACE, adapter=b"never loaded")
    with published(place) as publisher, caplog.at_level(logging.ERROR):
        publisher.publish([Stored(unknown, None, [BlockKey(b"k" * 32)], b"\0\0\0\0")])
        publisher.publish([block(1)])
        listener = listen()
        until(lambda: listener.replay() is None and listener.last == 2)
        assert listener.lost
    assert "its listeners see the gap" in caplog.text


def test_an_address_that_is_taken_is_told_in_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotPublish, match=f"{port}: it is taken by another program"):
            claim(f"tcp://127.0.0.1:{port}", None)


@pytest.mark.parametrize("endpoint", ["5557", "tcp://nowhere.invalid:5557", "smoke://signals"])
def test_what_is_no_address_is_told_with_one_that_is(endpoint: str) -> None:
    with pytest.raises(CannotPublish, match=r"Write tcp://127\.0\.0\.1:5557"):
        claim(endpoint, None)


def test_a_bad_replay_address_gives_the_other_one_back(place: Place) -> None:
    with pytest.raises(CannotPublish):
        claim(place.events, "5558")
    claim(place.events, place.replay).close()
