"""The command line of `headstart bench`. Nothing heavy is imported until it runs."""

import shlex
from pathlib import Path
from typing import Annotated

import typer


def bench(
    url: Annotated[
        str | None,
        typer.Option(help="Base URL of the endpoint (…/v1). Without it, a server is started."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model name to ask for, or to serve. Default: the endpoint's first."),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="HEADSTART_API_KEY", help="Sent as a bearer token.")
    ] = None,
    scenario: Annotated[
        str,
        typer.Option(
            help="A: cold and warm prefixes. B: agent session. C: many clients. D: decode speed."
            " E: exact repeat."
        ),
    ] = "A,B,C,D,E",
    repeats: Annotated[
        int | None,
        typer.Option(min=1, help="Measurements of each point. Default: 5 in A and E, 3 elsewhere."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller points.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write facts and raw samples here.")
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables as Markdown.")
    ] = False,
    serve_args: Annotated[
        str, typer.Option(help="More flags for the started server, in one string.")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Of the random prompts. A used seed's prompts may be cached.")
    ] = None,
) -> None:
    """Measure an OpenAI-compatible endpoint: what its prefix cache saves, and how fast it is."""
    import secrets

    from headstart.insight.bench.main import Output, main
    from headstart.insight.bench.run import Settings

    settings = Settings(
        url=url,
        model=model,
        api_key=api_key,
        keys=_keys(scenario),
        repeats=repeats,
        quick=quick,
        serve_args=tuple(shlex.split(serve_args)),
        seed=secrets.randbits(32) if seed is None else seed,
    )
    raise typer.Exit(main(settings, Output(json_file, as_markdown)))


def _keys(scenario: str) -> tuple[str, ...]:
    from headstart.insight.bench.catalog import KEYS

    asked = {key.strip().upper() for key in scenario.split(",")}
    if unknown := sorted(asked.difference(KEYS)):
        raise typer.BadParameter(
            f"no scenario {', '.join(unknown)}; there are {', '.join(KEYS)}.",
            param_hint="--scenario",
        )
    return tuple(key for key in KEYS if key in asked)
