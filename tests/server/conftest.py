"""Servers on real sockets: the real engine on a tiny random model, or a scripted one."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import torch
from starlette.types import ASGIApp

from headstart.engine.api import Engine
from headstart.engine.build import build_engine
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.books import open_log, open_store
from headstart.server.listen import listen
from headstart.server.run import uvicorn_config
from headstart.server.shutdown import Server
from headstart.settings import Settings
from headstart.text.codec import Codec

if TYPE_CHECKING:
    import anthropic
    import openai
    from google import genai

MODEL = "tiny"


@dataclass(frozen=True)
class Live:
    """A running server and ways to talk to it. SDKs are imported by those who use them."""

    url: str
    engine: Engine
    codec: Codec

    def client(
        self, api_key: str = "anything", *, strict: bool = True, **options: Any
    ) -> "openai.OpenAI":
        """The official client; strict, it checks every response against its own types."""
        import openai

        return openai.OpenAI(
            base_url=f"{self.url}/v1",
            api_key=api_key,
            max_retries=0,
            timeout=60,
            _strict_response_validation=strict,
            **options,
        )

    def anthropic(
        self, api_key: str = "anything", *, strict: bool = True, **options: Any
    ) -> "anthropic.Anthropic":
        """Anthropic's official client, likewise."""
        import anthropic

        return anthropic.Anthropic(
            base_url=self.url,
            api_key=api_key,
            max_retries=0,
            timeout=60,
            _strict_response_validation=strict,
            **options,
        )

    def gemini(self, api_key: str = "anything", version: str | None = None) -> "genai.Client":
        """Google's official client; without a version, with the one it takes by itself."""
        from google import genai
        from google.genai import types

        options = types.HttpOptions(
            base_url=self.url,
            api_version=version,
            timeout=60_000,
            client_args={"trust_env": False},
        )
        return genai.Client(api_key=api_key, http_options=options)

    def http(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, **options)

    def get(self, path: str, key: str = "anything") -> httpx.Response:
        with self.http(headers={"authorization": f"Bearer {key}"}) as http:
            return http.get(path)

    def post(self, path: str, key: str = "anything", **body: Any) -> httpx.Response:
        with self.http(headers={"authorization": f"Bearer {key}"}) as http:
            return http.post(path, json=body)

    def delete(self, path: str, key: str = "anything") -> httpx.Response:
        with self.http(headers={"authorization": f"Bearer {key}"}) as http:
            return http.delete(path)


StartServer = Callable[..., Live]


@contextmanager
def on_a_socket(app: ASGIApp, settings: Settings, engine: Engine) -> Iterator[str]:
    """Serve `app` from a thread; yields the base URL."""
    sock = listen("127.0.0.1", 0)
    server = Server(uvicorn_config(settings, app))

    async def serve() -> None:
        await server.serve(sockets=[sock])
        await engine.aclose(0)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Callable[..., Path]) -> LoadedModel:
    return load_model(
        str(tiny_checkpoint("llama")), dtype=torch.float32, device=torch.device("cpu")
    )


@pytest.fixture(scope="session")
def start_real(tiny: LoadedModel) -> Iterator[StartServer]:
    """`start_real(loaded=None, now=time.time, **settings) -> Live`: the real engine, until the end.

    `loaded`: another model than `tiny`. `now`: the clock of the contracts.
    """
    with ExitStack() as stack:

        def start(
            loaded: LoadedModel = tiny, now: Callable[[], float] = time.time, **fields: Any
        ) -> Live:
            defaults = Settings(
                dtype="float32",
                served_model_name=MODEL,
                kv_memory_bytes=8 << 20,
                drain_seconds=0,
            )
            settings = replace(defaults, **fields)
            engine = build_engine(loaded, settings)
            store = stack.enter_context(open_store(settings))
            log = stack.enter_context(open_log(settings))
            app = create_app(engine, loaded.codec, settings, store=store, log=log, now=now)
            url = stack.enter_context(on_a_socket(app, settings, engine))
            return Live(url, engine, loaded.codec)

        yield start


@pytest.fixture(scope="session")
def live(start_real: StartServer) -> Live:
    """The server most tests share."""
    return start_real()


@pytest.fixture
def start_scripted(tiny: LoadedModel) -> Iterator[StartServer]:
    """`start_scripted(engine, codec=None, **settings) -> Live`: an engine that fails on demand."""
    with ExitStack() as stack:

        def start(engine: Engine, codec: Codec | None = None, **fields: Any) -> Live:
            settings = replace(Settings(served_model_name=MODEL, drain_seconds=0), **fields)
            codec = codec or tiny.codec
            app = create_app(engine, codec, settings)
            return Live(stack.enter_context(on_a_socket(app, settings, engine)), engine, codec)

        yield start


@pytest.fixture
def words() -> Callable[[str, int], list[dict[str, str]]]:
    """`words(seed, count)`: messages whose text is new for every seed."""

    def messages(seed: str, count: int) -> list[dict[str, str]]:
        numbers: Sequence[int] = range(count)
        text = " ".join(f"{seed}{number}" for number in numbers)
        return [{"role": "system", "content": text}, {"role": "user", "content": "Go on."}]

    return messages
