"""The command line of `headstart ledger`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def ledger(
    db: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: the ledger of this user.")
    ] = None,
    by: Annotated[
        Literal["model", "tenant", "key", "hour", "reason"] | None,
        typer.Option(help="One line for each. reason: why not more was reused."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="24h, 7d or an ISO time; default: all.")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Price anew the models that this TOML or JSON names."),
    ] = None,
    to_json: Annotated[bool, typer.Option("--json", help="For programs; money is exact.")] = False,
    to_csv: Annotated[bool, typer.Option("--csv", help="For spreadsheets.")] = False,
) -> None:
    """Sum up what was served: tokens, their hit rate, money paid and saved."""
    from headstart.insight.ledger.main import main

    form: Literal["text", "json", "csv"] = "json" if to_json else "csv" if to_csv else "text"
    raise typer.Exit(main(db, by, since, prices, form))
