"""Signals: the first one asks for a clean end, the second one ends the process."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator

import uvicorn

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """uvicorn without its own signal handling, which would end the process by the signal."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


class Shutdown:
    """Whether somebody asked this process to end."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def install(self, loop: asyncio.AbstractEventLoop) -> None:
        """Listen for SIGINT and SIGTERM."""
        for number in SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: signal.Signals) -> None:
        if not self.asked.is_set():
            self.asked.set()
            return
        sys.stdout.flush()
        sys.stderr.flush()
        # Nothing here outlives the process, and a thread deep in a forward pass can't be stopped.
        os._exit(128 + number)
