"""The command line of `headstart lint`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.insight.options import Model, Provider, TokenizerChoice


def lint(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DIR|-...", help="Requests: bodies, logs, exports; - is standard input."
        ),
    ],
    provider: Provider = "auto",
    model: Model = None,
    tokenizer: TokenizerChoice = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only these, or what begins so.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Not these, or what begins so.")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(metavar="LEVEL|CODE", help="What makes the exit status 1: error, warning, …"),
    ] = "warning",
    fix: Annotated[
        bool, typer.Option("--fix", help="Change what can be changed safely; needs --write.")
    ] = False,
    write: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Where the changed requests go, as JSONL.")
    ] = None,
    form: Annotated[
        Literal["text", "json", "sarif", "github", "md"], typer.Option("--format")
    ] = "text",
    redact: Annotated[
        bool, typer.Option("--redact", help="Show hashes in place of the requests' text.")
    ] = False,
) -> None:
    """Find what keeps prompts from being read from a cache, in their bodies alone.

    Exit status: 0 clean, 1 findings, 2 something could not be read, 3 nothing to judge.
    """
    from headstart.insight.lint.main import Given, main

    given = Given(
        places=places,
        provider=provider,
        model=model,
        tokenizer=tokenizer,
        select=select or (),
        ignore=ignore or (),
        fail_on=fail_on,
        fixed=write if fix else None,
        form=form,
        redact=redact,
    )
    if fix != (write is not None):
        raise typer.BadParameter("--fix and --write OUT go together")
    raise typer.Exit(main(given))
