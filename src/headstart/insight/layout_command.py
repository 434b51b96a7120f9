"""The command line of `headstart layout`. Nothing heavy is imported until it runs."""

from typing import Annotated, Literal

import typer

from headstart.insight.options import Model, Provider, TokenizerChoice


def layout(
    place: Annotated[
        str,
        typer.Argument(metavar="FILE|DIR|-", help="A request, or many; - is standard input."),
    ],
    provider: Provider = "auto",
    model: Model = None,
    tokenizer: TokenizerChoice = None,
    block_size: Annotated[
        int, typer.Option(min=1, help="Tokens of a block, where a cache reads whole blocks.")
    ] = 16,
    form: Annotated[Literal["text", "json", "md"], typer.Option("--format")] = "text",
    redact: Annotated[
        bool, typer.Option("--redact", help="Show hashes in place of the requests' text.")
    ] = False,
) -> None:
    """Lay a prompt out by how long its parts stay the same, and prove by replay what that gains.

    Exit status: 0 in order, 1 parts are out of order, 2 it could not be read, 3 nothing to judge.
    """
    from headstart.insight.layout.main import Given, main

    given = Given(
        place=place,
        provider=provider,
        model=model,
        tokenizer=tokenizer,
        block_size=block_size,
        form=form,
        redact=redact,
    )
    raise typer.Exit(main(given))
