"""The command line of `headstart replay`. Nothing heavy is imported until it runs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.options import seconds

CAPACITIES = "1%,2%,5%,10%,20%,50%"
POLICIES = "worth,lru"
MOST_HOURS = 1e9
MOST_REPLICAS = 1024


def replay(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE…",
            help="Mooncake, Qwen-Bailian or kvt recordings, or bodies of requests; .gz too."
            " - is stdin; several files are one recording.",
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(help=f"Of eviction; several with commas, or repeated.  [{POLICIES}]"),
    ] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE,…",
            help="Shares of all different blocks (5%), tokens (2M) or 40GiB; several with commas,"
            f" or repeated.  [{CAPACITIES}]",
        ),
    ] = None,
    block_size: Annotated[
        int | None, typer.Option(min=1, help="Tokens; default: the recording's, or 16.")
    ] = None,
    index: Annotated[Literal["radix", "hash"], typer.Option()] = "radix",
    ttl: Annotated[
        float | None,
        typer.Option(
            parser=seconds, metavar="TIME", help="Without use until a prefix is dropped: 300, 5m."
        ),
    ] = None,
    reuse: Annotated[
        Literal["block", "token"],
        typer.Option(help="Token ids: hits in whole blocks, or to the token as headstart serves."),
    ] = "block",
    as_served: Annotated[
        bool | None,
        typer.Option(
            "--as-served/--instant",
            help="Requests hold blocks and make room first, or come and go in an instant."
            "  [as served for token ids]",
        ),
    ] = None,
    ram_tier: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Below each pool: host memory.")
    ] = None,
    disk: Annotated[str | None, typer.Option(metavar="SIZE", help="Below that: a disk.")] = None,
    remote: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Below all: one for all replicas.")
    ] = None,
    replicas: Annotated[int, typer.Option(min=1, max=MOST_REPLICAS)] = 1,
    route: Annotated[
        Literal["prefix", "session", "round-robin"] | None,
        typer.Option(help="To which replica.  [prefix]"),
    ] = None,
    kv_bytes_per_token: Annotated[
        int | None, typer.Option(min=1, help="For sizes in bytes; `headstart plan` tells it.")
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A tokenizer.json for texts; else 4 bytes are a token."),
    ] = None,
    recorded_block: Annotated[
        int | None, typer.Option(min=1, help="Tokens of a recorded block, if not 512 or 16.")
    ] = None,
    span_hours: Annotated[
        float | None,
        typer.Option(min=0, max=MOST_HOURS, help="kvt: over which conversations begin.  [24]"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="kvt: of the clock that is drawn.  [1]")] = None,
    price: Annotated[
        str | None, typer.Option(metavar="VENDOR/MODEL", help="Under whose contract to pay.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prices, as of headstart ledger.")
    ] = None,
    lifetime: Annotated[
        str | None, typer.Option(help="As the vendor names it: 5m, 1h. Sets --ttl as well.")
    ] = None,
    as_of: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Whose prices; default: today.")
    ] = None,
    optimum: Annotated[
        bool, typer.Option(help="Needs memory for all different blocks; the rest doesn't.")
    ] = True,
    form: Annotated[Literal["text", "json", "csv"], typer.Option("--format")] = "text",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png (extra: plots).")
    ] = None,
) -> None:
    """Replay recorded requests against the cache: what it would hit, by policy and capacity."""
    from headstart.cache.policies import POLICIES as KNOWN
    from headstart.insight.replay.main import Given, main
    from headstart.insight.replay.source import Reading

    policies = _listed(policy or [POLICIES])
    if unknown := [name for name in policies if name not in KNOWN]:
        problem = f"no policy {', '.join(unknown)}; there are {', '.join(KNOWN)}."
        raise typer.BadParameter(problem, param_hint="--policy")
    given = Given(
        traces=traces,
        policies=policies,
        capacities=_listed(capacity or [CAPACITIES]),
        now=datetime.now(UTC),
        index=index,
        ttl=ttl,
        reuse=reuse,
        as_served=as_served,
        replicas=replicas,
        route=route,
        tiers={name: size for name, size in (("ram", ram_tier), ("disk", disk)) if size},
        remote=remote,
        kv_token_bytes=kv_bytes_per_token,
        bound=optimum,
        price=price,
        prices=prices,
        lifetime=lifetime,
        as_of=None if as_of is None else as_of.replace(tzinfo=UTC),
        reading=Reading(
            block_size=block_size,
            recorded_block=recorded_block,
            tokenizer=tokenizer,
            span_s=None if span_hours is None else span_hours * 3600,
            seed=seed,
        ),
    )
    raise typer.Exit(main(given, form=form, plot=plot))


def _listed(given: list[str]) -> list[str]:
    return [each.strip() for text in given for each in text.split(",")]
