"""The command line of `headstart serve`. Neither model nor engine is imported until it runs."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.cache.policies import POLICIES
from headstart.options import seconds, size, tokens
from headstart.server.flags import parse_alias, parse_lora, parse_policy
from headstart.settings import DEFAULT_MODEL, Settings

MAX_BODY_BYTES = Settings().max_body_bytes


def serve(
    model: Annotated[
        str, typer.Option(help="The default's name, a model directory, a GGUF file or a hub id.")
    ] = DEFAULT_MODEL,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
    served_model_name: Annotated[
        str | None, typer.Option(help="Name clients ask for; default: the last part of --model.")
    ] = None,
    as_: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="VENDOR=NAME",
            help="One more name, under that vendor's cache contract; repeatable.",
        ),
    ] = None,
    dtype: Annotated[Literal["bfloat16", "float32"], typer.Option()] = "bfloat16",
    device: Annotated[Literal["cpu", "cuda", "auto"], typer.Option()] = "auto",
    load_format: Annotated[
        Literal["auto", "dummy"], typer.Option(help="dummy: a config's shape, random weights.")
    ] = "auto",
    lora: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="A LoRA adapter in PEFT's format; repeatable."),
    ] = None,
    context_length: Annotated[
        int | None,
        typer.Option(parser=tokens(), metavar="TOKENS", help="Default: the model's own."),
    ] = None,
    block_size: Annotated[int, typer.Option(min=1, help="Tokens in one KV block.")] = 16,
    kv_memory: Annotated[
        int | None,
        typer.Option(parser=size, metavar="SIZE", help="Such as 1GiB; default: a quarter of RAM."),
    ] = None,
    max_batch_tokens: Annotated[
        int,
        typer.Option(
            parser=tokens(), metavar="TOKENS", help="Computed in one step, prefill and decode."
        ),
    ] = 512,
    max_running: Annotated[int, typer.Option(min=1, help="Requests computed at a time.")] = 64,
    max_waiting: Annotated[
        int, typer.Option(min=0, help="Requests in the queue before new ones get 429.")
    ] = 256,
    max_body_bytes: Annotated[
        int,
        typer.Option(
            parser=size,
            metavar="SIZE",
            show_default="32MiB",
            help="Larger request bodies get 413.",
        ),
    ] = MAX_BODY_BYTES,
    template_date: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], help="Today, for templates that show a date; default: none."
        ),
    ] = None,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Cold and warm runs agree bit for bit.")
    ] = False,
    no_prefix_cache: Annotated[
        bool, typer.Option("--no-prefix-cache", help="Compute every prompt whole.")
    ] = False,
    verify_hits: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of hits to compute again and compare; slows all down."
        ),
    ] = 0.0,
    eviction_policy: Annotated[
        str,
        typer.Option(
            parser=parse_policy,
            metavar="|".join(POLICIES),
            help="Which prefix goes when room is needed.",
        ),
    ] = Settings().eviction_policy,
    cache_ttl: Annotated[
        float | None,
        typer.Option(
            parser=seconds, metavar="TIME", help="Without use after which a prefix is dropped."
        ),
    ] = None,
    retention_budget: Annotated[
        int | None,
        typer.Option(
            parser=size, metavar="SIZE", help="KV one tenant may pin; default: half of all."
        ),
    ] = None,
    prefix_index: Annotated[
        Literal["radix", "hash"], typer.Option(help="How cached prefixes are found.")
    ] = "radix",
    ram_tier: Annotated[
        int | None,
        typer.Option(parser=size, metavar="SIZE", help="Host memory for KV that leaves the pool."),
    ] = None,
    disk: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep KV here too, also over restarts.")
    ] = None,
    disk_bytes: Annotated[
        int,
        typer.Option(
            parser=size, metavar="SIZE", show_default="20GiB", help="What --disk may hold."
        ),
    ] = Settings().disk_bytes,
    remote: Annotated[
        str | None,
        typer.Option(metavar="URL|DIR", help="valkey://host:port, or a directory that is shared."),
    ] = None,
    tier_codec: Annotated[
        Literal["raw", "zstd", "int8", "fp8"],
        typer.Option(help="How KV is packed in the tiers; int8 and fp8 are lossy."),
    ] = "raw",
    tier_write: Annotated[
        Literal["through", "selective", "back"],
        typer.Option(help="Send KV down once it is computed, once it is reused, or as it leaves."),
    ] = "through",
    warm_restart: Annotated[
        bool, typer.Option(help="After a start bring up from --disk what was hot, while idle.")
    ] = True,
    kv_events: Annotated[
        str | None,
        typer.Option(metavar="ENDPOINT", help="Publish KV events here: tcp://127.0.0.1:5557."),
    ] = None,
    kv_events_replay: Annotated[
        str | None,
        typer.Option(metavar="ENDPOINT", help="Answer here who has missed some of them."),
    ] = None,
    kv_events_topic: Annotated[str, typer.Option(help="The topic of KV events.")] = "",
    kv_events_hashes: Annotated[
        Literal["int", "bytes"],
        typer.Option(help="Block hashes in events: their low 64 bits, or all of them."),
    ] = "int",
    kv_events_tokens: Annotated[
        bool,
        typer.Option(
            "--kv-events-tokens", help="Also tell token ids, tenants and salts to all listeners."
        ),
    ] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write accounts here; default: the user's own ledger."),
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no accounts on the disk.")
    ] = False,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prices that go before all others.")
    ] = None,
    request_log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write requests here, prompts and all, for `headstart replay`."
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="HEADSTART_API_KEY", help="The operator's key: opens everything."),
    ] = None,
    api_keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Lines 'key tenant', one key each.")
    ] = None,
    shared_prefixes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Prompts a line, as JSON, that all tenants share."),
    ] = None,
    keep_alive: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="Of silence, after which a stream sends an empty line; 0: none.",
        ),
    ] = Settings().keep_alive_seconds,
    drain_seconds: Annotated[
        float,
        typer.Option(
            parser=seconds, metavar="TIME", help="For running requests to end at shutdown."
        ),
    ] = 30.0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads of the model; default: torch's choice.")
    ] = None,
) -> None:
    """Serve a model behind the APIs of OpenAI, Anthropic, Gemini and DeepSeek."""
    from headstart.ledger.schema import default_path
    from headstart.server.run import run

    settings = Settings(
        model=model,
        served_model_name=served_model_name,
        aliases=tuple(parse_alias(text) for text in as_ or ()),
        dtype=dtype,
        device=device,
        load_format=load_format,
        loras=tuple(parse_lora(text) for text in lora or ()),
        block_size=block_size,
        kv_memory_bytes=kv_memory,
        max_batch_tokens=max_batch_tokens,
        max_running=max_running,
        max_waiting=max_waiting,
        max_body_bytes=max_body_bytes,
        context_length=context_length,
        template_date=None if template_date is None else template_date.date(),
        deterministic=deterministic,
        prefix_cache=not no_prefix_cache,
        verify_hits=verify_hits,
        prefix_index=prefix_index,
        ram_tier_bytes=ram_tier or 0,
        disk=None if disk is None else str(disk),
        disk_bytes=disk_bytes,
        remote=remote,
        tier_codec=tier_codec,
        tier_write=tier_write,
        warm_restart=warm_restart,
        eviction_policy=eviction_policy,
        cache_ttl=cache_ttl,
        retention_budget_bytes=retention_budget,
        kv_events=kv_events,
        kv_events_replay=kv_events_replay,
        kv_events_topic=kv_events_topic,
        kv_events_hashes=kv_events_hashes,
        kv_events_tokens=kv_events_tokens,
        ledger=None if no_ledger else str(ledger or default_path()),
        prices=None if prices is None else str(prices),
        request_log=None if request_log is None else str(request_log),
        api_key=api_key,
        api_keys_file=None if api_keys is None else str(api_keys),
        shared_prefixes=None if shared_prefixes is None else str(shared_prefixes),
        keep_alive_seconds=keep_alive,
        drain_seconds=drain_seconds,
        threads=threads,
        host=host,
        port=port,
    )
    raise typer.Exit(run(settings))
