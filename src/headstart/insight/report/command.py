"""The command line of `headstart report`. Nothing heavy is imported until it runs."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.insight.options import Provider, TokenizerChoice


def report(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DIR|-...",
            help="Bodies, logs, batches, exports, metrics scrapes, a ledger; - is standard input.",
        ),
    ],
    by: Annotated[
        Literal["model", "tenant", "route", "prefix", "hour"],
        typer.Option(help="One line of the table for each."),
    ] = "model",
    target: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="A token hit rate such as 0.8 that has to be reached."),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Prices of your own, as TOML or JSON (docs/ledger.md)."),
    ] = None,
    form: Annotated[Literal["text", "json", "csv"], typer.Option("--format")] = "text",
    redact: Annotated[
        bool, typer.Option("--redact", help="Show hashes in place of the requests' text.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="For requests that don't name one; Gemini's never do.")
    ] = None,
    provider: Provider = "auto",
    tokenizer: TokenizerChoice = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            metavar="DAY", formats=["%Y-%m-%d"], help="Whose prices; else each request's day."
        ),
    ] = None,
) -> None:
    """Say what requests read from the cache, what that cost, and what to change.

    Exit status: 0 fine, 1 below the target or a lever of more than 5 % of the cost, 2 something
    could not be read, 3 no usage and nothing to estimate it from.
    """
    if target is not None and not 0 < target <= 1:
        raise typer.BadParameter("--target is a share of tokens, such as 0.8")
    from headstart.insight.report.main import Given, main

    given = Given(
        places=places,
        by=by,
        target=target,
        prices=prices,
        redact=redact,
        model=model,
        provider=provider,
        tokenizer=tokenizer,
        as_of=None if as_of is None else as_of.date(),
    )
    raise typer.Exit(main(given, form=form))
