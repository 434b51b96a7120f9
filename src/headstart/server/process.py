"""The serving process: load the model, answer, drain."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from rich.console import Console

from headstart.engine.build import TooLittleMemory, build_engine
from headstart.engine.core import LocalEngine
from headstart.engine.events import EventSource
from headstart.engine.open_tiers import TierError
from headstart.ledger import Store
from headstart.model.errors import ModelError
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.banner import print_banner
from headstart.server.gate import Gate
from headstart.server.line_log import LineLog
from headstart.server.shared import Declared, tokenised
from headstart.server.shutdown import Server, Shutdown
from headstart.settings import Settings
from headstart.text.codec import Codec
from headstart.text.stability import template_stability

log = logging.getLogger(__name__)

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


async def serve(
    settings: Settings,
    declared: Sequence[Declared],
    server: Server,
    gate: Gate,
    sock: socket.socket,
    console: Console,
    publish: Callable[[EventSource], None],
    store: Store | None,
    log_file: LineLog | None,
) -> None:
    """Answer on `sock` until a signal comes. Raises ModelError, TextError, SharedPrefixesError.

    `declared`: what tenants share. `publish`: sends the engine's events on their way. `store`:
    where accounts go. `log_file`: where requests are logged.
    """
    shutdown = Shutdown()
    shutdown.install(asyncio.get_running_loop())
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    asked = asyncio.create_task(shutdown.asked.wait())
    try:
        console.print(f"Loading {settings.model} …", style="dim")
        loading = asyncio.create_task(asyncio.to_thread(_load, settings, declared))
        await asyncio.wait({loading, asked, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not loading.done():
            return
        loaded, engine = loading.result()
        publish(engine)
        named = replace(settings, served_model_name=settings.served_model_name or loaded.name)
        app = create_app(engine, loaded.codec, named, store=store, log=log_file)
        billing = asyncio.create_task(app.keep_billing())
        gate.open(app)
        print_banner(console, loaded, engine, named, _url(sock))
        _warn_of_template(loaded.codec, console)
        await asyncio.wait({asked, serving}, return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        console.print("Draining; a second signal stops at once.", style="dim")
        await engine.aclose(settings.drain_seconds)
        billing.cancel()
        app.bill()
    finally:
        server.should_exit = True
        asked.cancel()
        await serving


def _warn_of_template(codec: Codec, console: Console) -> None:
    """Say at once what would otherwise show as misses, turn after turn."""
    for divergence in template_stability(codec.render, tools=codec.template_knows_tools):
        log.warning("the chat template breaks prefixes: %s", divergence)
        console.print(f"The chat template breaks prefixes: {divergence}", markup=False)


def _load(settings: Settings, declared: Sequence[Declared]) -> tuple[LoadedModel, LocalEngine]:
    loaded = load_model(
        settings.model,
        dtype=DTYPES[settings.dtype],
        device=_device(settings),
        load_format=settings.load_format,
        template_date=settings.template_date,
    )
    shared = tokenised(declared, loaded.codec, settings.block_size)
    try:
        return loaded, build_engine(loaded, settings, shared)
    except (TooLittleMemory, TierError) as error:
        raise ModelError(str(error)) from error


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
