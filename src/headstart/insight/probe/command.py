"""The command line of `headstart probe`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.options import seconds, tokens

MOST = 1e9
"""Dollars: whatever is more is a slip."""


def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help="The endpoint, as its SDK takes it.")],
    model: Annotated[
        str | None, typer.Option(help="Whom to ask. Default: the only one it serves.")
    ] = None,
    dialect: Annotated[
        Literal["openai-chat", "openai-responses", "anthropic", "gemini", "deepseek"] | None,
        typer.Option(help="Default: found out by asking, without a key."),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(help="Default: the vendor's usual variable, such as ANTHROPIC_API_KEY."),
    ] = None,
    other_key: Annotated[
        str | None,
        typer.Option(help="Another tenant's: does it read, or feel, what the first one wrote?"),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option("--samples", "-n", min=1, help="Four or more give an interval.  [5]"),
    ] = None,
    prefix: Annotated[
        int | None,
        typer.Option(
            parser=tokens(16),
            metavar="TOKENS",
            help="About. Default: 3000, or above the vendor's minimum.",
        ),
    ] = None,
    prefix_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own system prompt; {clock} in it is filled in each time."
        ),
    ] = None,
    output_tokens: Annotated[
        int | None, typer.Option(min=1, help="Of each answer. Default: the fewest allowed.")
    ] = None,
    pause: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="Before each request. Default: a second, or none on this machine.",
        ),
    ] = None,
    retention: Annotated[
        bool,
        typer.Option("--retention", help="Instead: how long, and how much, it keeps."),
    ] = False,
    max_wait: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="Longest wait of --retention; 0: only how much.  [10m]",
        ),
    ] = None,
    budget_tokens: Annotated[
        int,
        typer.Option(
            parser=tokens(), metavar="TOKENS", help="Input and output that it may spend in all."
        ),
    ] = 1_000_000,
    budget_usd: Annotated[
        float | None,
        typer.Option(min=0, max=MOST, help="The same in dollars, where the price is known.  [1]"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Go on, also over the budget.")] = False,
    price: Annotated[
        str | None,
        typer.Option(metavar="VENDOR/MODEL", help="Whose prices hold, if not the model's own."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prices, as of headstart ledger.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the drawn text. A used seed's prefixes may be cached.")
    ] = None,
    form: Annotated[Literal["text", "json", "csv"], typer.Option("--format")] = "text",
) -> None:
    """Say whether an endpoint reuses prefixes: by its counters, by its times, and with a clock."""
    import secrets
    from decimal import Decimal

    from headstart.insight.probe.main import Given, main

    if prefix is not None and prefix_file is not None:
        raise typer.BadParameter("a --prefix-file is as long as it is.", param_hint="--prefix")
    given = Given(
        url=url,
        seed=secrets.randbits(32) if seed is None else seed,
        model=model,
        dialect=dialect,
        api_key=api_key,
        other_key=other_key,
        samples=samples,
        prefix=prefix,
        text=None if prefix_file is None else _read(prefix_file),
        output=output_tokens,
        pause=pause,
        retention=retention,
        max_wait=max_wait,
        budget_tokens=budget_tokens,
        budget_dollars=None if budget_usd is None else Decimal(str(budget_usd)),
        over_budget=yes,
        price=price,
        prices=prices,
    )
    raise typer.Exit(main(given, form=form))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(
            f"{path} can't be read: {error}", param_hint="--prefix-file"
        ) from None
