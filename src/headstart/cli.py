"""One command. Heavy imports happen only where used."""

import typer

app = typer.Typer(no_args_is_help=True)


def main() -> None:
    """Entry point of the `headstart` command."""
    app()
