"""Everything an operator can choose, read once at the edge. Plain data: it imports no room."""

import datetime
from dataclasses import dataclass
from typing import Literal

DEFAULT_MODEL = "smollm2-135m-instruct"
VENDORS = ("engine", "openai", "anthropic", "gemini", "deepseek")
"""Whose cache contracts there are; `engine` is our own plain truth."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server is run. Sizes are bytes or tokens as their names say."""

    model: str = DEFAULT_MODEL
    """The default's name, a Hugging Face directory, a GGUF file or a hub id."""
    served_model_name: str | None = None
    """The name clients ask for; None derives it from `model`."""
    aliases: tuple[tuple[str, str], ...] = ()
    """(vendor, model name) pairs: more names of the model, under that vendor's cache contract."""
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    device: Literal["cpu", "cuda", "auto"] = "auto"
    load_format: Literal["auto", "dummy"] = "auto"
    """`dummy` fills the shape that a config names with random weights."""
    loras: tuple[tuple[str, str], ...] = ()
    """(name, PEFT directory) pairs; clients choose one by its name."""
    block_size: int = 16
    """Positions in one KV block."""
    kv_memory_bytes: int | None = None
    """None takes a quarter of the machine's RAM."""
    max_batch_tokens: int = 512
    """Tokens computed in one engine step, prefill and decode together."""
    max_running: int = 64
    max_waiting: int = 256
    max_body_bytes: int = 32 * 1024 * 1024
    context_length: int | None = None
    """None is the model's own."""
    template_date: datetime.date | None = None
    """What chat templates show as today. None leaves them without a clock."""
    deterministic: bool = False
    """Cold and warm runs agree bit for bit."""
    prefix_cache: bool = True
    verify_hits: float = 0.0
    """Share of hits that are computed once more to prove their KV; everybody waits meanwhile."""
    prefix_index: Literal["radix", "hash"] = "radix"
    """How cached prefixes are found."""
    eviction_policy: str = "worth"
    """A name in `headstart.cache.POLICIES`: which prefix goes when room is needed."""
    cache_ttl: float | None = None
    """Seconds without use after which a prefix is dropped; None keeps it while there is room."""
    retention_budget_bytes: int | None = None
    """KV that the pins of one tenant may protect; None is half of the pool."""
    ram_tier_bytes: int = 0
    """Host memory for KV that leaves the pool; 0 is no such tier."""
    disk: str | None = None
    """A directory for KV that outlives the process."""
    disk_bytes: int = 20 * 1024**3
    """What it may hold."""
    remote: str | None = None
    """`valkey://host:port`, or a directory that several servers share."""
    tier_codec: Literal["raw", "zstd", "int8", "fp8"] = "raw"
    """How KV is packed in the tiers; zstd is lossless, and needs the package zstandard.

    int8 and fp8 lose bits, so what came from such a tier isn't exactly what would be computed.
    """
    tier_write: Literal["through", "selective", "back"] = "through"
    """When KV goes down to the tiers: once it is computed, once it is reused, or when it leaves the
    pool; `back` sends what the pool holds when the server ends."""
    warm_restart: bool = True
    """After a start bring up what was hot from the disk, while there is nothing else to do."""
    kv_events: str | None = None
    """Where to publish KV events, such as `tcp://127.0.0.1:5557`; None publishes none."""
    kv_events_replay: str | None = None
    """Where lost events can be asked for."""
    kv_events_topic: str = ""
    kv_events_hashes: Literal["int", "bytes"] = "int"
    """The low 64 bits of a block's key, or all of it."""
    kv_events_tokens: bool = False
    """Tell token ids, tenants and salts to whoever listens: no key is asked for."""
    ledger: str | None = None
    """The file that accounts are written to; None keeps none."""
    prices: str | None = None
    """A file of prices that go before all others."""
    request_log: str | None = None
    """A file that every request is written to, prompts and all; None keeps none."""
    api_key: str | None = None
    """The operator's key (tenant ""): opens the API and the operator's endpoints."""
    api_keys_file: str | None = None
    """A file of lines `key tenant`."""
    shared_prefixes: str | None = None
    """A file of prompts, as JSON Lines, whose KV all tenants share where a prompt begins so."""
    keep_alive_seconds: float = 10.0
    """Of silence, after which a stream sends a line that says nothing; 0 sends none."""
    drain_seconds: float = 30.0
    threads: int | None = None
    """CPU threads of the model; None lets torch choose."""
    host: str = "127.0.0.1"
    port: int = 8000
