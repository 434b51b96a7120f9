"""`headstart models`: what can be served."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from platformdirs import user_cache_path
from rich.console import Console
from rich.table import Table

from headstart.model.config import Family
from headstart.settings import DEFAULT_MODEL

DEFAULT_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that `--model` takes."""

    model: str
    where: str


def entries(cache: Path, hub: Path) -> Iterator[Entry]:
    """The default model, then files in our cache folder, then repositories in the hub's."""
    default = cache / DEFAULT_FILE
    state = str(default) if default.is_file() else "fetched at the first start"
    yield Entry(DEFAULT_MODEL, f"the default; {state}")
    for path in sorted(cache.glob("*.gguf")):
        if path != default:
            yield Entry(str(path), "a GGUF file")
    for folder in sorted(hub.glob("models--*--*")):
        if any(folder.glob("snapshots/*/config.json")):
            yield Entry(folder.name.removeprefix("models--").replace("--", "/", 1), str(folder))


def print_catalog() -> None:
    """Print them, and what else would work."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("--model", style="bold", overflow="fold")
    table.add_column("where", overflow="fold")
    for entry in entries(user_cache_path("headstart") / "models", _hub_cache()):
        table.add_row(entry.model, entry.where)
    console = Console()
    console.print(table)
    families = ", ".join(get_args(Family))
    console.print(
        f"\nAlso: a Hugging Face directory, a GGUF file, or a hub id. Families: {families}.",
        style="dim",
    )


def _hub_cache() -> Path:
    """Where huggingface_hub keeps models; it alone knows all the ways to say where."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)
