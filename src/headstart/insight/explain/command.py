"""The command line of `headstart explain`. Nothing heavy is imported until it runs."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.insight.options import Model, Provider, TokenizerChoice


def explain(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A.json|LOG", help="The earlier request, or a recording; - is stdin."
        ),
    ],
    second: Annotated[
        str | None, typer.Argument(metavar="[B.json]", help="The later request.")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="N", help="Of a recording's request, or its line; else the last."
        ),
    ] = None,
    provider: Provider = "auto",
    model: Model = None,
    tokenizer: TokenizerChoice = None,
    url: Annotated[
        str | None,
        typer.Option(help="A server of ours that renders both prompts: tokens are then exact."),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="HEADSTART_API_KEY", help="Sent to --url.")
    ] = None,
    block_size: Annotated[
        int, typer.Option(min=1, help="Tokens of a block where hits are cut to whole blocks.")
    ] = 16,
    walk: Annotated[
        bool, typer.Option("--walk", help="Show the chain of block keys, HIT or MISS.")
    ] = False,
    triage: Annotated[
        bool, typer.Option("--triage", help="Ask what else can have changed the output.")
    ] = False,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prices, above the packaged ones.")
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The day whose prices hold; else today."),
    ] = None,
    form: Annotated[Literal["text", "json", "md"], typer.Option("--format")] = "text",
    redact: Annotated[
        bool, typer.Option("--redact", help="Show hashes in place of the requests' text.")
    ] = False,
) -> None:
    """Say why a request was not read from a cache: where it leaves an earlier one, and the cost.

    Exit status: 0 nothing lost, 1 something, 2 could not run, 3 the recording doesn't tell.
    """
    from headstart.insight.explain.explanation import Wanted
    from headstart.insight.explain.main import Given, main

    if second is not None and id is not None:
        raise typer.BadParameter("--id is of a recording; two requests have none")
    now = time.time() if as_of is None else as_of.replace(tzinfo=UTC).timestamp()
    given = Given(
        first=first,
        second=second,
        id=id,
        provider=provider,
        model=model,
        tokenizer=tokenizer,
        url=url,
        api_key=api_key,
        prices=prices,
        wanted=Wanted(block_size, walk, triage, now),
        form=form,
        redact=redact,
    )
    raise typer.Exit(main(given))
