import asyncio
import os
import sys
from pathlib import Path

import httpx
import pytest

from headstart.insight.bench.launch import Server, serving
from headstart.insight.wire import EndpointError

SLOW_TO_START = """
import http.server, sys, time

class Health(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Health.asked += 1
        ready = self.path == "/health" and Health.asked > 3
        self.send_response(200 if ready else 503)
        self.end_headers()
        self.wfile.write(" ".join(sys.argv[1:]).encode())

time.sleep(0.3)
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Health).serve_forever()
"""


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    script = tmp_path / "server.py"
    script.write_text(SLOW_TO_START)
    return (sys.executable, str(script))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_is_ready_when_its_health_says_so_and_gone_afterwards(
    command: tuple[str, ...],
) -> None:
    async def use() -> tuple[Server, str]:
        async with serving(("--flag",), command) as server:
            assert alive(server.pid)
            async with httpx.AsyncClient(trust_env=False) as client:
                return server, (await client.get(server.url.replace("/v1", "/health"))).text

    server, flags = asyncio.run(use())
    assert server.ready_seconds >= 0.3
    assert server.ready_bytes is not None
    assert server.ready_bytes > 2**20
    assert flags.endswith("--flag")
    assert not alive(server.pid)


def test_a_server_is_stopped_when_the_measurement_fails(command: tuple[str, ...]) -> None:
    pids = []

    async def use() -> None:
        async with serving((), command) as server:
            pids.append(server.pid)
            raise EndpointError("broken off")

    with pytest.raises(EndpointError, match="broken off"):
        asyncio.run(use())
    assert not alive(pids[0])


def test_a_server_that_dies_at_its_start_is_quoted() -> None:
    async def use() -> None:
        async with serving((), (sys.executable, "-c", "raise SystemExit('no such model: x')")):
            pass

    with pytest.raises(EndpointError, match=r"status 1 (.|\n)*no such model: x"):
        asyncio.run(use())
