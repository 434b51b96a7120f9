"""A server of our own for the benchmark: started, awaited, measured, and stopped in every case."""

import asyncio
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from headstart.insight.bench.machine import resident_bytes
from headstart.insight.wire import EndpointError

HOST = "127.0.0.1"
SERVE = (
    *(sys.executable, "-c", "from headstart.cli import main; main()"),
    *("serve", "--no-ledger"),
)
"""A benchmark's requests are nobody's."""
READY_SECONDS = 900.0
"""The first start may fetch the model."""
STOP_SECONDS = 20.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    url: str
    pid: int
    ready_seconds: float
    """From the start of the process to the first 200 of /health."""
    ready_bytes: int | None
    """Resident then."""


@asynccontextmanager
async def serving(
    arguments: Sequence[str], command: Sequence[str] = SERVE
) -> AsyncIterator[Server]:
    """Run `command --host … --port … arguments`. Raises EndpointError with its last words."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="headstart-bench-") as folder:
        log = Path(folder) / "serve.log"
        with log.open("wb") as output:
            begun = time.perf_counter()
            # A session of its own: Ctrl-C reaches the benchmark alone, which then stops the server.
            process = await asyncio.create_subprocess_exec(
                *command,
                *("--host", HOST, "--port", str(port), *arguments),
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            await _ready(process, f"http://{HOST}:{port}/health", log, begun)
            seconds = time.perf_counter() - begun
            memory = resident_bytes(process.pid)
            yield Server(f"http://{HOST}:{port}/v1", process.pid, seconds, memory)
        finally:
            await _stop(process)


async def _ready(process: asyncio.subprocess.Process, health: str, log: Path, begun: float) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        while time.perf_counter() - begun < READY_SECONDS:
            if process.returncode is not None:
                raise EndpointError(
                    f"the server ended with status {process.returncode} before it was ready:\n"
                    + _tail(log)
                )
            try:
                if (await client.get(health)).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # Not listening yet.
            await asyncio.sleep(POLL_SECONDS)
    raise EndpointError(f"the server was not ready after {READY_SECONDS:.0f} s:\n{_tail(log)}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            process.kill()
    await process.wait()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
