"""As much of the Redis protocol (RESP2) as a store of large values needs, on one connection.

Payloads are sent from and received into the caller's memory. A deadline is a moment of the
monotonic clock, and whatever is left of it is the timeout of each step, so a server that sends a
byte now and then can't stretch a call. After any error but a server's own the connection's state is
unknown: it must be closed.
"""

import socket
from collections.abc import Callable, Iterable, Sequence

from headstart.stores.codec import Buffer
from headstart.stores.errors import Late, Refused, StoreError, Unavailable
from headstart.stores.protocol import Clock, time_left

Argument = Buffer | tuple[Buffer, ...]
"""One argument of a command; the parts of a tuple are sent one after the other."""

_LINE_LIMIT = 64 * 1024
_MOST_DIGITS = 24
"""Of a number, which has 64 bits; of thousands Python makes none."""
_LONGEST_WAIT = 86400.0
"""Seconds, for a call without a deadline: a socket can't wait for ever and be told to time out."""
_COPIED = 16 * 1024
"""Bytes. A longer argument is sent from where it lies."""


class Connection:
    """Used by one thread at a time. Opening it raises a StoreError."""

    def __init__(self, host: str, port: int, *, clock: Clock, deadline: float) -> None:
        self._clock = clock
        self._buffer = bytearray()
        self._socket = self._connect(host, port, deadline)

    def close(self) -> None:
        """Forget whatever was under way."""
        self._socket.close()

    def is_quiet(self) -> bool:
        """Whether the server is still there and has sent nothing unasked."""
        self._socket.setblocking(False)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return not self._buffer
        except OSError:
            return False
        return False

    def send(self, commands: Iterable[Sequence[Argument]], deadline: float) -> None:
        """Send commands, each a name and its arguments, without waiting for the replies."""
        small = bytearray()
        views: list[memoryview] = []
        for command in commands:
            small += b"*%d\r\n" % len(command)
            for argument in command:
                parts = argument if isinstance(argument, tuple) else (argument,)
                small += b"$%d\r\n" % sum(map(len, parts))
                for part in parts:
                    if len(part) <= _COPIED:
                        small += part
                    else:
                        views += (memoryview(small), memoryview(part))
                        small = bytearray()
                small += b"\r\n"
        views.append(memoryview(small))
        while views:
            sent = self._step(deadline, lambda: self._socket.sendmsg(views))
            while views and sent >= len(views[0]):
                sent -= len(views.pop(0))
            if sent:
                views[0] = views[0][sent:]

    def integer(self, deadline: float) -> int:
        """The next reply, an integer. Raises Refused where it is an error."""
        return self._number(b":", deadline)

    def status(self, deadline: float) -> None:
        """The next reply, "+OK". Raises Refused where it is an error."""
        if (line := self._line(deadline)) != b"+OK":
            raise _unexpected(line)

    def bulk(self, deadline: float) -> int | None:
        """The length of the next reply, a string to be read by `fill` and `end_bulk`.

        None where there is no value. Raises Refused where the reply is an error.
        """
        length = self._number(b"$", deadline)
        return None if length < 0 else length

    def fill(self, view: memoryview, deadline: float) -> None:
        """The next bytes of a string."""
        count = min(len(view), len(self._buffer))
        view[:count] = self._buffer[:count]
        del self._buffer[:count]
        while count < len(view):
            count += self._received(deadline, view[count:])

    def end_bulk(self, deadline: float) -> None:
        """What follows a string."""
        if self._line(deadline):
            raise Unavailable("a value of another length than announced")

    def _number(self, kind: bytes, deadline: float) -> int:
        line = self._line(deadline)
        if (
            line[:1] != kind
            or not line[1:].removeprefix(b"-").isdigit()
            or len(line) > _MOST_DIGITS
        ):
            raise _unexpected(line)
        return int(line[1:])

    def _line(self, deadline: float) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > _LINE_LIMIT:
                raise Unavailable("a line without an end")
            piece = memoryview(bytearray(4096))
            self._buffer += piece[: self._received(deadline, piece)]
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _received(self, deadline: float, view: memoryview) -> int:
        if not (count := self._step(deadline, lambda: self._socket.recv_into(view))):
            raise Unavailable("the server closed the connection")
        return count

    def _step(self, deadline: float, step: Callable[[], int]) -> int:
        try:
            self._socket.settimeout(self._timeout(deadline))
            return step()
        except TimeoutError as error:
            raise Late("the server did not answer in time") from error
        except OSError as error:
            raise Unavailable(str(error)) from error

    def _timeout(self, deadline: float) -> float:
        return min(time_left(self._clock, deadline), _LONGEST_WAIT)

    def _connect(self, host: str, port: int, deadline: float) -> socket.socket:
        """To the first of the host's addresses that answers. The name look-up has no deadline."""
        failure: OSError | None = None
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Unavailable(f"{host}: {error}") from error
        for family, kind, protocol, _, address in addresses:
            opened = socket.socket(family, kind, protocol)
            try:
                opened.settimeout(self._timeout(deadline))
                opened.connect(address)
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return opened
            except OSError as error:
                opened.close()
                failure = error
            except Late:
                opened.close()
                raise
        time_left(self._clock, deadline)
        raise Unavailable(f"{host}:{port}: {failure}") from failure


def _unexpected(line: bytes) -> StoreError:
    text = line[1:200].decode(errors="replace")
    return Refused(text) if line[:1] == b"-" else Unavailable(f"an unexpected reply: {text!r}")
