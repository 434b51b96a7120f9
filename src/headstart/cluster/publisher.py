"""Sends KV events over ZeroMQ, as vLLM does, from a thread of its own.

PUB sends `[topic, number, payload]`; the number counts batches from 0, eight bytes, big-endian. A
ROUTER answers `["", first number]` with `["", topic, number, payload]` for each of the batches kept
and `["", "", -1, ""]` behind the last. What a slow listener or this thread can't keep up with is
dropped, never waited for: the numbers show it, and a replay or a snapshot makes up for it.
"""

import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import zmq

from headstart.cache import Cleared, Event
from headstart.cluster.backlog import Backlog, Batch
from headstart.cluster.kv_events import Wire
from headstart.cluster.sockets import KEPT_BATCHES, Sockets

log = logging.getLogger("headstart.cluster")

WAITING_BATCHES = 10_000
END = (-1).to_bytes(8, "big", signed=True)
CLOSE_SECONDS = 2.0


class Publisher:
    """Owns `sockets` from now on.

    The first batch says that nothing is findable yet, for those who followed a process that was at
    this address before; so does the last one, when the KV goes with the process.
    """

    def __init__(
        self,
        sockets: Sockets,
        wire: Wire,
        *,
        topic: str = "",
        wall: Callable[[], float] = time.time,
        waiting: int = WAITING_BATCHES,
        kept: int = KEPT_BATCHES,
    ) -> None:
        self._sockets = sockets
        self._wire = wire
        self._topic = topic.encode()
        self._wall = wall
        self._backlog = Backlog(waiting)
        self._kept: deque[tuple[bytes, bytes]] = deque(maxlen=kept)
        self._wake, self._awake = socket.socketpair()
        self._wake.setblocking(False)
        self._awake.setblocking(False)
        self._closing = False
        self.publish([Cleared()])
        self._thread = threading.Thread(target=self._run, name="headstart-kv-events", daemon=True)
        self._thread.start()

    @property
    def next_seq(self) -> int:
        """The number of the batch that comes next."""
        return self._backlog.next_seq

    @property
    def dropped(self) -> int:
        """Batches that were never sent since too many waited."""
        return self._backlog.dropped

    def publish(self, events: Sequence[Event]) -> None:
        """Queue one batch; returns at once, whoever listens."""
        self._backlog.put(self._wall(), events)
        self._notify()

    def close(self) -> None:
        """Send what waits and give the addresses back. Idempotent."""
        if not self._closing:
            self._backlog.put(self._wall(), [Cleared()])
            self._closing = True
            self._notify()
        self._thread.join(CLOSE_SECONDS)

    def _notify(self) -> None:
        with suppress(OSError):  # Full: it has been woken often enough. Or closed.
            self._wake.send(b"\0")

    def _run(self) -> None:
        try:
            poller = zmq.Poller()
            poller.register(self._awake, zmq.POLLIN)
            if self._sockets.replay is not None:
                poller.register(self._sockets.replay, zmq.POLLIN)
            while not self._closing:
                poller.poll()
                replay = self._sockets.replay
                asked = replay is not None and replay.poll(0)
                # Before the answer, which then has all that was published before it was asked for;
                # and one answer at a time, so that new batches go first however many ask.
                self._send_waiting()
                if replay is not None and asked:
                    self._answer(replay)
            self._send_waiting()
        except Exception:
            log.exception("KV events end here: whoever follows them has to take snapshots")
        finally:
            self._wake.close()
            self._awake.close()
            self._sockets.close()

    def _send_waiting(self) -> None:
        with suppress(BlockingIOError):
            while self._awake.recv(4096):
                pass
        for batch in self._backlog.take():
            try:
                self._send(batch)
            except Exception:
                log.exception("a batch of KV events is lost; its listeners see the gap")

    def _send(self, batch: Batch) -> None:
        payload = self._wire.payload(batch.seconds, batch.events)
        number = batch.seq.to_bytes(8, "big")
        self._kept.append((number, payload))
        self._sockets.pub.send_multipart((self._topic, number, payload))

    def _answer(self, replay: "zmq.Socket[bytes]") -> None:
        match replay.recv_multipart():
            case [peer, b"", first] if len(first) == len(END):
                for number, payload in self._kept:
                    if number >= first:
                        replay.send_multipart((peer, b"", self._topic, number, payload))
                replay.send_multipart((peer, b"", b"", END, b""))
            case _:
                log.debug("a request for KV events is not ['', number]; it gets no answer")
