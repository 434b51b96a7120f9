"""The command line of `headstart layout`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def layout(
    place: Annotated[
        str,
        typer.Argument(metavar="FILE|DIR|-", help="A request, or many; - is standard input."),
    ],
    provider: Annotated[
        Literal["auto", "openai", "anthropic", "gemini", "deepseek", "vllm", "sglang", "headstart"],
        typer.Option(help="Whose cache rules apply; else as each request says."),
    ] = "auto",
    model: Annotated[
        str | None, typer.Option(help="For bodies that don't name one; Gemini's never do.")
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Count by a tokenizer.json, or o200k, cl100k, llama3, qwen3; else an estimate.",
        ),
    ] = None,
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
