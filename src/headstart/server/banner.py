"""What the operator sees when the server is ready."""

from dataclasses import fields
from itertools import chain

from rich.console import Console
from rich.table import Table
from torch import Tensor

from headstart import __version__
from headstart.engine.api import Engine
from headstart.model.load import LoadedModel
from headstart.model.weights import Weights
from headstart.settings import Settings

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def print_banner(
    console: Console, loaded: LoadedModel, engine: Engine, settings: Settings, url: str
) -> None:
    """Model, memory, room for KV, and how to point a client here."""
    name = settings.served_model_name or loaded.name
    facts = Table.grid(padding=(0, 2))
    for label, value in _facts(loaded, engine, settings, name):
        facts.add_row(f"[bold]{label}", value)
    console.print(f"[bold green]headstart {__version__}[/] is ready at [bold]{url}[/]")
    console.print(facts)
    console.print("Point a client at it:", style="dim")
    for line in client_lines(url, name, needs_key=bool(settings.api_key or settings.api_keys_file)):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def client_lines(url: str, model: str, *, needs_key: bool) -> tuple[str, str, str]:
    """Three lines of Python that get an answer from this server."""
    key = "YOUR KEY" if needs_key else "anything"
    return (
        "from openai import OpenAI",
        f'client = OpenAI(base_url="{url}/v1", api_key="{key}")',
        f'client.chat.completions.create(model="{model}", '
        'messages=[{"role": "user", "content": "Hello"}])',
    )


def _facts(
    loaded: LoadedModel, engine: Engine, settings: Settings, name: str
) -> list[tuple[str, str]]:
    stats = engine.stats()
    tensor = loaded.weights.embed
    dtype = str(tensor.dtype).removeprefix("torch.")
    weights = human_bytes(weight_bytes(loaded.weights))
    capacity, block = stats.cache.capacity_tokens, stats.cache.block_size
    reuse = f", reused in {unit_name(stats.cache.reuse_unit)}"
    if not settings.prefix_cache:
        reuse = ", prefix cache off"
    facts = [
        ("model", f"{name} ({loaded.config.family}), {dtype} on {tensor.device}, {weights}"),
        (
            "KV",
            f"{human_bytes(stats.kv_bytes)} hold {capacity:,} tokens in blocks of {block}{reuse}",
        ),
        ("context", f"{engine.context_length:,} tokens"),
    ]
    if engine.adapters:
        facts.append(("LoRA", ", ".join(engine.adapters)))
    return facts


def unit_name(tokens: int) -> str:
    """What hits are cut down to."""
    return "single tokens" if tokens == 1 else f"whole chunks of {tokens} tokens"


def weight_bytes(weights: Weights) -> int:
    """Memory of all weights; a tied head counts once."""
    layers = (getattr(layer, f.name) for layer in weights.layers for f in fields(layer))
    tensors = chain((weights.embed, weights.norm, weights.head), layers)
    distinct = {t.data_ptr(): t.nbytes for t in tensors if isinstance(t, Tensor)}
    return sum(distinct.values())


def human_bytes(count: float) -> str:
    """`1.5 GiB`."""
    for unit in UNITS[:-1]:
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} {UNITS[-1]}"
