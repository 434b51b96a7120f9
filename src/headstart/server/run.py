"""`headstart serve`: claim the port, then do what takes seconds."""

import asyncio
import logging

import uvicorn
from rich.console import Console
from starlette.types import ASGIApp

from headstart.cluster.errors import CannotPublish
from headstart.ledger import LedgerError, PriceError
from headstart.model.errors import ModelError
from headstart.server.auth import KeysFileError, load_keyring
from headstart.server.books import open_log, open_store
from headstart.server.gate import Gate
from headstart.server.line_log import LogError
from headstart.server.listen import CannotListen, listen
from headstart.server.publishing import publishing
from headstart.server.shared import SharedPrefixesError, read_shared
from headstart.server.shutdown import Server
from headstart.settings import Settings
from headstart.text.errors import TextError

EXPECTED = (
    CannotListen,
    CannotPublish,
    KeysFileError,
    LedgerError,
    LogError,
    ModelError,
    PriceError,
    SharedPrefixesError,
    TextError,
)
"""What an operator's mistake looks like: told in a sentence, without a traceback."""

GRACE_SECONDS = 5.0
"""After the drain, for the last bytes to reach slow clients."""


def run(settings: Settings) -> int:
    """Serve until a signal comes. Returns the process's exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("headstart.reuse").setLevel(logging.INFO)  # A line a prompt: why it missed.
    try:
        load_keyring(settings)
        declared = read_shared(settings.shared_prefixes)
        with (
            listen(settings.host, settings.port) as sock,
            publishing(settings) as publish,
            open_store(settings) as store,
            open_log(settings) as log_file,
        ):
            # Imported only now: torch takes seconds, and a taken port should be told at once.
            from headstart.server.process import serve

            gate = Gate()
            config = uvicorn_config(settings, gate)
            with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
                served = serve(
                    settings,
                    declared,
                    Server(config),
                    gate,
                    sock,
                    Console(),
                    publish,
                    store,
                    log_file,
                )
                runner.run(served)
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
