"""The sockets of a publisher: claimed before anything slow happens."""

import errno
from dataclasses import dataclass

import zmq

from headstart.cluster.errors import CannotPublish

KEPT_BATCHES = 10_000
"""Batches that can be sent again; also how many may be on their way to one slow listener."""
LINGER_MS = 200
"""How long closing waits for the last bytes to leave."""
LONGEST_REQUEST = 1024
"""Bytes of a replay request's frame; a longer one ends the connection."""


@dataclass(frozen=True, slots=True)
class Sockets:
    """Where batches go out, and where lost ones are asked for."""

    context: zmq.Context[zmq.Socket[bytes]]
    pub: zmq.Socket[bytes]
    replay: zmq.Socket[bytes] | None

    def close(self) -> None:
        """Give the addresses back. Takes `LINGER_MS` at most."""
        self.pub.close(LINGER_MS)
        if self.replay is not None:
            self.replay.close(0)
        self.context.term()


def claim(endpoint: str, replay: str | None) -> Sockets:
    """Bind both addresses, `tcp://host:port` or `ipc://path`. Raises CannotPublish.

    `replay`: None offers no replay.
    """
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    opened: list[zmq.Socket[bytes]] = []
    try:
        opened.append(pub := context.socket(zmq.PUB))
        pub.set_hwm(KEPT_BATCHES)
        _bind(pub, endpoint)
        if replay is None:
            return Sockets(context, pub, None)
        opened.append(router := context.socket(zmq.ROUTER))
        # A peer counts as slow before half of this is on its way: a whole replay must fit.
        router.setsockopt(zmq.SNDHWM, 2 * (KEPT_BATCHES + 1))
        router.setsockopt(zmq.MAXMSGSIZE, LONGEST_REQUEST)
        _bind(router, replay)
    except CannotPublish:
        for socket in opened:
            socket.close(0)
        context.term()
        raise
    return Sockets(context, pub, router)


def _bind(socket: zmq.Socket[bytes], endpoint: str) -> None:
    socket.setsockopt(zmq.IPV6, int("[" in endpoint))
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        if error.errno == errno.EADDRINUSE:
            problem = "it is taken by another program. Choose another port."
        else:
            problem = f"{error}. Write tcp://127.0.0.1:5557, tcp://*:5557 or ipc:///a/path."
        raise CannotPublish(f"Can't publish KV events at {endpoint}: {problem}") from error
