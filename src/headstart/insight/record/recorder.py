"""Writes exchanges down, from a thread of its own. Nobody waits for it, and it never raises."""

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlsplit, urlunsplit

from headstart.insight.record.exchange import HEADERS, IDS, MODELS, Exchange
from headstart.insight.record.line import line
from headstart.insight.record.redact import Redactor

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""Of bodies and answers that are not written yet; what comes beyond is not recorded."""
CLOSE_SECONDS = 2.0


class Recorder:
    """One file. Any thread may tell of an exchange."""

    def __init__(
        self,
        path: str | Path,
        *,
        redact: bool | bytes = False,
        answers: bool = False,
        beside: Mapping[str, str] | None = None,
        most_bytes: int = MOST_BYTES,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`path`: lines are added at its end; only its owner may read it.

        `redact`: leave out what is said (see `redact.py`); a key keeps equal texts equal over
        recordings. `answers`: write answers too, not their usage alone. `beside`: fields of every
        line, such as `tenant` and `session`.
        """
        self._path = Path(path)
        self._redact = Redactor(redact if isinstance(redact, bytes) else None) if redact else None
        self._answers = answers
        self._beside = dict(beside or {})
        self._most = most_bytes
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._held = 0
        self._pending: SimpleQueue[Exchange | threading.Event | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._pid = 0
        self._warned = False
        self.written = 0
        """Lines."""
        self.dropped = 0
        """Exchanges that could not be recorded."""

    def wants(self, method: str, url: str) -> bool:
        """Whether a model is asked there."""
        return method == "POST" and bool(MODELS.search(urlsplit(url).path))

    def begin(self, url: str, headers: Mapping[str, str], body: bytes) -> Exchange | None:
        """A request is about to be sent; None if there is no room to keep it."""
        if not self._hold(len(body)):
            self._drop()
            return None
        told = {name: headers[name] for name in HEADERS if name in headers}
        return Exchange(_bare(url), told, body, self._now(), self._clock())

    def answered(self, exchange: Exchange, status: int, headers: Mapping[str, str]) -> None:
        """The head of the answer is there. Names of headers are found in any case."""
        exchange.status = status
        exchange.kind = headers.get("content-type", "")
        exchange.encoding = headers.get("content-encoding", "")
        exchange.request_id = next((headers[name] for name in IDS if name in headers), "")

    def heard(self, exchange: Exchange, chunk: bytes) -> None:
        """A piece of the answer's body has come."""
        if exchange.first is None:
            exchange.first = self._clock()
        if self._hold(len(chunk)):
            self._hold(exchange.add(chunk) - len(chunk))
        else:
            exchange.cut = True

    def end(self, exchange: Exchange, error: BaseException | None = None) -> None:
        """The answer is whole, or was broken off. Only the first time counts."""
        if exchange.ended is not None:
            return
        exchange.ended = self._clock()
        exchange.error = "" if error is None else type(error).__name__
        try:
            self._start()
        except RuntimeError:  # No thread begins while the interpreter ends.
            self._drop()
        else:
            self._pending.put(exchange)

    def flush(self, timeout: float = CLOSE_SECONDS) -> bool:
        """Wait until all that has ended is written; whether it was in time."""
        if self._thread is None or self._pid != os.getpid():
            return True
        done = threading.Event()
        self._pending.put(done)
        return done.wait(timeout)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Let the thread end when it has written all; a later exchange begins another."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None and self._pid == os.getpid():
            atexit.unregister(self.flush)
            self._pending.put(None)
            thread.join(timeout)

    def _hold(self, count: int) -> bool:
        with self._lock:
            if count > 0 and self._held + count > self._most:
                return False
            self._held += count
            return True

    def _drop(self) -> None:
        with self._lock:
            self.dropped += 1

    def _start(self) -> None:
        """The thread, which a fork leaves behind."""
        with self._lock:
            if self._thread is not None and self._pid == os.getpid():
                return
            thread = threading.Thread(target=self._run, name="headstart-record", daemon=True)
            thread.start()
            self._thread, self._pid = thread, os.getpid()
            atexit.register(self.flush)

    def _run(self) -> None:
        while (each := self._pending.get()) is not None:
            if isinstance(each, threading.Event):
                each.set()
                continue
            try:
                self._write(each)
            except Exception as error:  # A full disk, a directory that is gone: the caller goes on.
                self._drop()
                if not self._warned:
                    self._warned = True
                    log.warning("%s: not recorded: %s", self._path, error)
            finally:
                self._hold(-len(each.body) - each.kept)

    def _write(self, exchange: Exchange) -> None:
        found = line(exchange, beside=self._beside, redact=self._redact, answers=self._answers)
        if found is None:
            return
        append(self._path, found)
        self.written += 1


def _bare(url: str) -> str:
    """Without user, query and fragment: keys stand there too."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def append(path: Path, data: bytes) -> None:
    """Add a line at the end, whole or not at all. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError:
            end = os.fstat(file).st_size
            if written and end >= written:  # Half a line would spoil the file for its readers.
                os.ftruncate(file, end - written)
            raise
    finally:
        os.close(file)
