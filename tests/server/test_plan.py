"""`headstart plan` against a running server: its KV memory, to the byte."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import prod
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from tests.server.conftest import on_a_socket

from headstart.engine.build import build_engine
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.figure import Report
from headstart.insight.plan.given import Given, understand
from headstart.insight.plan.plan import plan
from headstart.insight.wire import EndpointError
from headstart.model.default import fetch_default_model
from headstart.model.inventory import inventory
from headstart.model.load import load_model
from headstart.server.app import create_app
from headstart.settings import Settings

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PROMPT = {"prefix": 100, "question": 20}


def planned(**given: object) -> Report:
    asked, _ = understand(Given(**{**PROMPT, **given}), now=NOW)  # type: ignore[arg-type]
    return plan(asked)


def test_the_pool_of_a_tiny_server_is_its_memory_to_the_byte(
    live: Any, tiny_checkpoint: Callable[..., Path]
) -> None:
    made = planned(url=live.url, model=str(tiny_checkpoint("llama")))
    kv = live.get("/cache").json()
    assert made.figure("kv_bytes_per_token").value == 2 * 2 * 2 * 16 * 4  # float32
    assert made.figure("pool_bytes").value == live.engine.stats().kv_bytes == kv["kv_bytes"]
    assert made.figure("pool_bytes").kind == "measured"
    assert made.figure("pool_tokens").value == kv["capacity_tokens"]
    fitting = kv["kv_bytes"] // (96 * 512)  # Six full blocks of 16.
    assert made.figure("resident_prefixes").value == fitting


def test_a_url_that_ends_in_v1_is_the_same_server(
    live: Any, tiny_checkpoint: Callable[..., Path]
) -> None:
    model = str(tiny_checkpoint("llama"))
    one, other = (planned(url=live.url + end, model=model) for end in ("", "/v1/"))
    assert one == other


def test_another_model_than_the_servers_is_told_by_its_memory(live: Any) -> None:
    with pytest.raises(PlanError, match=r"keeps 512 bytes of KV per token, llama-3-8b 131,072"):
        planned(url=live.url, model="llama-3-8b")
    with pytest.raises(PlanError, match="'tiny' is neither a model of the catalogue"):
        planned(url=live.url)


def test_a_server_that_wants_a_key_is_asked_with_it(
    start_real: Callable[..., Any], tiny_checkpoint: Callable[..., Path]
) -> None:
    locked = start_real(api_key="secret")
    model = str(tiny_checkpoint("llama"))
    with pytest.raises(EndpointError, match="401"):
        planned(url=locked.url, model=model)
    assert planned(url=locked.url, model=model, api_key="secret").findings == []


def test_another_kind_of_server_is_one_line(serve_json: Callable[[bytes], str]) -> None:
    for body in (b"{}", b"<html>", b'{"block_size": 16, "capacity_tokens": "many"}'):
        with pytest.raises(EndpointError, match="is not headstart's") as caught:
            planned(url=serve_json(body))
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_server_of_the_default_model_needs_nothing_but_its_url() -> None:
    loaded = load_model(
        str(fetch_default_model()), dtype=torch.bfloat16, device=torch.device("cpu")
    )
    settings = Settings(served_model_name="smollm2-135m-instruct", kv_memory_bytes=50_000_000)
    engine = build_engine(loaded, settings)
    with on_a_socket(create_app(engine, loaded.codec, settings), settings, engine) as url:
        made = planned(url=url)
        memory = engine.stats().kv_bytes
    assert made.model == "smollm2-135m"
    assert made.figure("pool_bytes").value == memory
    assert made.figure("pool_tokens").value == memory // 23_040
    assert memory == 50_000_000 // (16 * 23_040) * 16 * 23_040
    tensors = inventory(loaded.config).values()
    assert made.figure("parameters").value == sum(map(prod, tensors)) == 134_515_008


@pytest.fixture
def serve_json() -> Iterator[Callable[[bytes], str]]:
    """Servers that answer everything with the same bytes."""
    with ExitStack() as stack:

        def start(body: bytes) -> str:
            class Answer(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(body)

                def log_message(self, *_: object) -> None:
                    pass

            server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
            Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}"

        yield start
