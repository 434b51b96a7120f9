"""The command line of `headstart demo`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def demo(
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the sample files there.")
    ] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Show the reports on made-up traffic: no key, no model, no connection, a few seconds."""
    from headstart.insight.demo.main import main

    raise typer.Exit(main(write, form))
