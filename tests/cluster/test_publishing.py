"""From the command line to the network."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cluster.conftest import Place
from tests.cluster.listener import Listener
from tests.server.test_run import Process

from headstart.cluster.errors import CannotPublish
from headstart.server.publishing import publishing
from headstart.settings import Settings

Listen = Callable[..., Listener]


def test_a_replay_address_alone_is_refused(place: Place) -> None:
    with (
        pytest.raises(CannotPublish, match="--kv-events-replay needs --kv-events"),
        publishing(Settings(kv_events_replay=place.replay)),
    ):
        pass


def test_without_pyzmq_the_way_to_get_it_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("headstart.cluster.")]:
        if name.rpartition(".")[2] in ("publisher", "sockets"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "zmq", None)
    with (
        pytest.raises(CannotPublish, match=r"pip install 'headstart\[cluster\]'"),
        publishing(Settings(kv_events=place.events)),
    ):
        pass


def test_an_address_is_given_back_when_no_engine_came(place: Place) -> None:
    for _ in range(2):
        with publishing(Settings(kv_events=place.events, kv_events_replay=place.replay)):
            pass


@pytest.mark.slow
def test_a_served_process_publishes_over_tcp_and_clears_the_picture_when_it_ends(
    tiny_checkpoint: Callable[..., Path],
) -> None:
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(f"tcp://127.0.0.1:{free.getsockname()[1]}")
    process = Process(
        *("--model", str(tiny_checkpoint("llama")), "--served-model-name", "tiny"),
        *("--kv-memory", "8MiB", "--threads", "1", "--port", "0", "--drain-seconds", "0"),
        *("--kv-events", ports[0], "--kv-events-replay", ports[1], "--kv-events-topic", "kv@x"),
    )
    listener = Listener(*ports, topic=b"kv@x")
    try:
        url = process.url()
        listener.catch_up()
        body: dict[str, Any] = {"model": "tiny", "prompt": "word " * 40, "max_tokens": 1}
        assert httpx.post(f"{url}/v1/completions", json=body, timeout=60).status_code == 200
        listener.catch_up()
        snapshot = httpx.get(f"{url}/kv/snapshot", timeout=60).json()
        assert snapshot["next_seq"] == listener.last + 1
        assert listener.blocks
        process.popen.terminate()
        assert process.status() == 0
        listener.read(1)
        assert not listener.blocks
    finally:
        process.popen.kill()
        listener.close()


@pytest.mark.slow
def test_a_taken_address_ends_the_command_with_a_sentence(
    tiny_checkpoint: Callable[..., Path],
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        endpoint = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        process = Process(
            *("--model", str(tiny_checkpoint("llama")), "--port", "0", "--kv-events", endpoint)
        )
        assert process.status() == 1
    assert "is taken by another program" in " ".join(process.output.split())
    assert "Traceback" not in process.output
