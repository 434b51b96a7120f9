"""`headstart serve`: claim the port, load, serve, drain."""

import asyncio
import logging
import socket
from dataclasses import replace

import torch
import uvicorn
from rich.console import Console
from starlette.types import ASGIApp

from headstart.engine.build import TooLittleMemory, build_engine
from headstart.engine.core import LocalEngine
from headstart.model.errors import ModelError
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.auth import KeysFileError, load_keyring
from headstart.server.banner import print_banner
from headstart.server.gate import Gate
from headstart.server.listen import CannotListen, listen
from headstart.server.shutdown import Server, Shutdown
from headstart.settings import Settings
from headstart.text.errors import TextError

EXPECTED = (CannotListen, KeysFileError, ModelError, TextError, TooLittleMemory)
"""What an operator's mistake looks like: told in a sentence, without a traceback."""

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}

GRACE_SECONDS = 5.0
"""After the drain, for the last bytes to reach slow clients."""


def run(settings: Settings, console: Console | None = None) -> int:
    """Serve until a signal comes. Returns the process's exit status."""
    console = console or Console()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    try:
        load_keyring(settings)
        with listen(settings.host, settings.port) as sock:
            gate = Gate()
            config = uvicorn_config(settings, gate)
            with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
                runner.run(_serve(settings, Server(config), gate, sock, console))
    except EXPECTED as error:
        Console(stderr=True).print(f"[bold red]headstart:[/] {error}", highlight=False)
        return 1
    return 0


def uvicorn_config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """How HTTP is spoken: without access log and lifespan, signals are ours."""
    return uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.drain_seconds + GRACE_SECONDS),
    )


async def _serve(
    settings: Settings, server: Server, gate: Gate, sock: socket.socket, console: Console
) -> None:
    shutdown = Shutdown()
    shutdown.install(asyncio.get_running_loop())
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    asked = asyncio.create_task(shutdown.asked.wait())
    try:
        console.print(f"Loading {settings.model} …", style="dim")
        loading = asyncio.create_task(asyncio.to_thread(_load, settings))
        await asyncio.wait({loading, asked, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not loading.done():
            return
        loaded, engine = loading.result()
        named = replace(settings, served_model_name=settings.served_model_name or loaded.name)
        gate.open(create_app(engine, loaded.codec, named))
        print_banner(console, loaded, engine, named, _url(sock))
        await asyncio.wait({asked, serving}, return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        console.print("Draining; a second signal stops at once.", style="dim")
        await engine.aclose(settings.drain_seconds)
    finally:
        server.should_exit = True
        asked.cancel()
        await serving


def _load(settings: Settings) -> tuple[LoadedModel, LocalEngine]:
    loaded = load_model(
        settings.model,
        dtype=DTYPES[settings.dtype],
        device=_device(settings),
        load_format=settings.load_format,
        template_date=settings.template_date,
    )
    return loaded, build_engine(loaded, settings)


def _device(settings: Settings) -> torch.device:
    has_cuda = torch.cuda.is_available()
    if settings.device == "cuda" and not has_cuda:
        raise ModelError("--device cuda: torch finds no CUDA device here. Use --device cpu.")
    wants_cuda = settings.device == "cuda" or (settings.device == "auto" and has_cuda)
    return torch.device("cuda" if wants_cuda else "cpu")


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"
