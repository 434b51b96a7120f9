"""The command line of `headstart plan`. Nothing heavy is imported until it runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.options import tokens

MOST = 1e9
"""Of an option that is a fraction: whatever is more is a slip."""


def plan(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Option(help="A name of the catalogue, a config.json or a directory that has one."),
    ] = None,
    prefix: Annotated[
        int | None,
        typer.Option(parser=tokens(), metavar="TOKENS", help="That come again.  [4000]"),
    ] = None,
    question: Annotated[
        int | None, typer.Option(parser=tokens(0), metavar="TOKENS", help="That are new.  [200]")
    ] = None,
    gpu_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Of one GPU: 80GB or 80GiB.  [80GB]")
    ] = None,
    flops: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="What one GPU really does, not its peak.  [400e12]"),
    ] = None,
    bandwidth: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of one GPU's memory.  [3.35TB/s]")
    ] = None,
    overhead_ms: Annotated[
        float | None,
        typer.Option(min=0, max=MOST, help="Queue, network and all else that is no prefill.  [30]"),
    ] = None,
    tensor_parallel: Annotated[int, typer.Option(min=1, help="GPUs that share the model.")] = 1,
    weights: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Bytes of all weights; else counted.")
    ] = None,
    reserve: Annotated[
        str | None,
        typer.Option(metavar="SIZE|%", help="Of one GPU, for neither weights nor KV.  [10%]"),
    ] = None,
    kv_dtype: Annotated[
        str | None, typer.Option(help="bf16, fp16, fp32, fp8, int8 or fp8_ds_mla.  [bf16]")
    ] = None,
    block_size: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens of a KV block; 1 where reuse is to the token.  [16]"),
    ] = None,
    hit_rate: Annotated[
        float | None, typer.Option(min=0, max=1, help="Of tokens, expected or measured.")
    ] = None,
    turns: Annotated[int | None, typer.Option(min=1, help="Of a conversation.")] = None,
    turn_tokens: Annotated[
        int | None,
        typer.Option(
            parser=tokens(), metavar="TOKENS", help="New in each turn; default: the question's."
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(metavar="VENDOR/MODEL", help="Whose prices and cache rules to take."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prices, as of `headstart ledger`.")
    ] = None,
    write: Annotated[
        float | None,
        typer.Option(min=0, max=MOST, help="Price of a write, times the input's.  [1.25]"),
    ] = None,
    read: Annotated[
        float | None,
        typer.Option(min=0, max=MOST, help="Price of a read, times the input's.  [0.1]"),
    ] = None,
    input_price: Annotated[
        float | None,
        typer.Option(min=0, max=MOST, help="Dollars for a million tokens, without --price."),
    ] = None,
    rent: Annotated[
        float, typer.Option(min=0, max=MOST, help="Dollars for a million tokens held an hour.")
    ] = 0.0,
    ttl: Annotated[
        str | None,
        typer.Option(help="A lifetime as the vendor names it; without --price any: 5m, 1h.  [5m]"),
    ] = None,
    gap: Annotated[
        str | None, typer.Option(metavar="TIME", help="Between two uses of the prefix: 90s, 10m.")
    ] = None,
    uses: Annotated[
        int | None, typer.Option(min=1, help="Of the prefix, the first included.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="DAY", help="Whose prices hold; default: today.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="A running headstart: its model and its KV memory.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="HEADSTART_API_KEY", help="For --url.")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Hit rate by cache size on what `headstart replay` reads."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Of eviction, for --trace; several with commas, or repeated.  [lru,worth]"
        ),
    ] = None,
    form: Annotated[Literal["text", "json", "csv"], typer.Option("--format")] = "text",
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the curves: .svg or .png (extra: plots)."),
    ] = None,
) -> None:
    """Say what a prefix cache is worth: memory, operations, time to first token and money."""
    from headstart.insight.plan.main import Given, main

    source = context.get_parameter_source("api_key")
    given = Given(
        model=model,
        prefix=prefix,
        question=question,
        gpu_memory=gpu_memory,
        flops=flops,
        bandwidth=bandwidth,
        overhead_ms=overhead_ms,
        tensor_parallel=tensor_parallel,
        weights=weights,
        reserve=reserve,
        kv_dtype=kv_dtype,
        block_size=block_size,
        hit_rate=hit_rate,
        turns=turns,
        turn_tokens=turn_tokens,
        price=price,
        prices=prices,
        write=write,
        read=read,
        input_price=input_price,
        rent=rent,
        ttl=ttl,
        gap=gap,
        uses=uses,
        as_of=as_of,
        url=url,
        api_key=api_key,
        key_typed=source is not None and source.name == "COMMANDLINE",
        trace=trace,
        policies=[name.strip() for each in policy or () for name in each.split(",")],
    )
    raise typer.Exit(main(given, form=form, plot=plot))
