"""The command line of `headstart warm`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.options import tokens

MOST = 1e9
"""Dollars: whatever is more is a slip."""


def warm(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN.yaml", help="What to keep warm: see docs/warm.md.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be sent and cost; send nothing.")
    ] = False,
    budget_usd: Annotated[
        float | None, typer.Option(min=0, max=MOST, help="Dollars for all calls together.")
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            parser=tokens(0), metavar="TOKENS", help="Of all calls together, read or not."
        ),
    ] = None,
    limit: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Send nothing after: 90m, 8h.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prices, as of headstart ledger.")
    ] = None,
    form: Annotated[Literal["text", "json", "csv"], typer.Option("--format")] = "text",
) -> None:
    """Keep prompts in a vendor's cache between their uses, for as long as it pays."""
    from headstart.insight.warm.main import Given, main

    given = Given(
        plan=plan,
        dry=dry_run,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        limit=limit,
        prices=prices,
    )
    raise typer.Exit(main(given, form=form))
